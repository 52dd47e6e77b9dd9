package history

import (
	"os"
	"strings"
	"testing"
	"time"
)

// write and read make calls from one instant to another.
func write(client int, token int64, value string, refused bool, from, to time.Duration) Write {
	return Write{Client: client, Token: token, Value: value, Refused: refused, Called: from, Returned: to}
}

func read(client int, token int64, value string, from, to time.Duration) Write {
	return Write{Client: client, Read: true, Token: token, Value: value, Called: from, Returned: to}
}

func TestJudgeResource(t *testing.T) {
	for name, c := range map[string]struct {
		h    Resource
		want Verdict
	}{
		"in order": {Resource{
			read(0, 0, "", 0, 1), write(0, 1, "a", false, 2, 3), write(1, 2, "b", false, 4, 5), write(0, 1, "c", true, 6, 7), read(0, 2, "b", 8, 9),
		}, Ok},
		"at once, either way":                              {Resource{write(0, 1, "a", false, 0, 9), write(1, 2, "b", false, 0, 9), read(0, 2, "b", 10, 11)}, Ok},
		"refused by a write that was out at the same time": {Resource{write(0, 1, "a", true, 0, 9), write(1, 2, "b", false, 5, 12)}, Ok},
		"equal tokens, in some order":                      {Resource{write(0, 1, "a", false, 0, 9), write(1, 1, "b", false, 0, 9), read(0, 1, "a", 10, 11)}, Ok},
		"a stale write accepted":                           {Resource{write(1, 2, "b", false, 0, 1), write(0, 1, "a", false, 2, 3)}, Illegal},
		"the lower one landed last":                        {Resource{write(0, 1, "a", false, 0, 9), write(1, 2, "b", false, 0, 9), read(0, 1, "a", 10, 11)}, Illegal},
		"refused for no reason":                            {Resource{write(0, 1, "a", false, 0, 1), write(1, 1, "b", true, 2, 3)}, Illegal},
		"refused, and there":                               {Resource{write(0, 2, "a", false, 0, 1), write(1, 1, "b", true, 2, 3), read(0, 1, "b", 4, 5)}, Illegal},
		"a value and another's token":                      {Resource{write(0, 1, "a", false, 0, 9), write(1, 2, "b", false, 0, 9), read(0, 2, "a", 4, 5)}, Illegal},
		"a lost write":                                     {Resource{write(0, 1, "a", false, 0, 1), write(1, 1, "b", false, 2, 3), read(0, 1, "a", 4, 5)}, Illegal},
	} {
		if got := JudgeResource(c.h, time.Second); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestShortenResource(t *testing.T) {
	h := Resource{
		write(0, 1, "a", false, 0, 1), read(0, 1, "a", 2, 3), write(1, 2, "b", false, 4, 5), write(0, 1, "c", true, 6, 7),
		read(1, 2, "b", 8, 9), write(0, 1, "d", false, 10, 11), read(0, 1, "d", 12, 13),
	}
	short := ShortenResource(h, time.Second)
	if len(short) != 3 || JudgeResource(short, time.Second) != Illegal {
		t.Errorf("got %d calls, want the three accepted writes: %v", len(short), short)
	}
	files, err := SaveResource(short, t.TempDir(), "name", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"refused"`, "<html"} {
		text, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not contain %q", files[i], want)
		}
	}
}
