import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The adapter of the lease in Leases.java. Requests are read without a JSON library, since
 * they have each name once.
 */
final class Adapter {
    private static final String URL =
            System.getenv().getOrDefault("JDBC_URL", "jdbc:postgresql://127.0.0.1:5432/postgres?user=postgres");

    private static Leases leases;

    /** Makes the call that a request asks for, and returns what the reply says beside ok. */
    private static String answer(String request) throws Exception {
        switch (text(request, "op")) {
            case "hello":
                return "\"version\":1,\"name\":\"Leases.java on PostgreSQL\",\"features\":[\"namespace\",\"now\",\"seed\"]"
                        + ",\"resolution\":\"1000\",\"time\":" + quoted(Instant.now().toString());
            case "open":
                String space = text(request, "namespace");
                // Two names that are joined must not give what two others give.
                leases = new Leases(URL, text(request, "store") + "/" + space.length() + ":" + space + "/");
                return "";
            case "close":
                leases.close();
                return "";
            case "now":
                return "\"time\":" + quoted(leases.now().toString());
            case "seed":
                leases.seed(text(request, "key"), Long.parseLong(text(request, "token")));
                return "";
            case "acquire":
                return shown(leases.acquire(text(request, "key"), text(request, "holder"), Long.parseLong(text(request, "ttl"))));
            case "renew":
                return shown(leases.renew(text(request, "key"), text(request, "holder"),
                        Long.parseLong(text(request, "token")), Long.parseLong(text(request, "ttl"))));
            case "release":
                leases.release(text(request, "key"), text(request, "holder"), Long.parseLong(text(request, "token")));
                return "";
            case "get":
                return shown(leases.get(text(request, "key")));
            default:
                throw new IllegalArgumentException("unknown op " + text(request, "op"));
        }
    }

    private static String shown(Leases.Lease l) {
        return "\"lease\":{\"key\":" + quoted(l.key()) + ",\"holder\":" + quoted(l.holder())
                + ",\"token\":\"" + l.token() + "\",\"expires\":\"" + l.expires() + "\"}";
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Pattern number = Pattern.compile("\"id\":(\\d+)");
        for (String line; (line = in.readLine()) != null; ) {
            Matcher id = number.matcher(line);
            id.find();
            String reply;
            try {
                String more = answer(line);
                reply = "\"result\":\"ok\"" + (more.isEmpty() ? "" : "," + more);
            } catch (Leases.Refused e) {
                reply = "\"result\":" + quoted(e.getMessage());
            } catch (Exception e) {
                reply = "\"result\":\"error\",\"text\":" + quoted(e.toString());
            }
            out.println("{\"id\":" + id.group(1) + "," + reply + "}");
        }
    }

    /** The string field of a request. Requests have each name once. */
    private static String text(String line, String name) {
        Matcher m = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(line);
        if (!m.find()) {
            throw new IllegalArgumentException("the request has no " + name);
        }
        StringBuilder b = new StringBuilder();
        String raw = m.group(1);
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c != '\\') {
                b.append(c);
                continue;
            }
            c = raw.charAt(++i);
            if (c == 'u') {
                b.append((char) Integer.parseInt(raw.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                int at = "bfnrt".indexOf(c);
                b.append(at < 0 ? c : "\b\f\n\r\t".charAt(at));
            }
        }
        return b.toString();
    }

    private static String quoted(String text) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < 0x20 || c == '"' || c == '\\') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}
