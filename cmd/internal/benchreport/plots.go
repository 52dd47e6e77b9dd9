package benchreport

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth  = 6 * vg.Inch
	plotHeight = 3.6 * vg.Inch
)

// colours are told apart by those who don't see red and green too: Okabe and Ito,
// Color Universal Design (2008). The dashes tell them apart in print.
var (
	colours = []color.Color{
		color.RGBA{0x00, 0x72, 0xB2, 0xFF}, color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, color.RGBA{0x00, 0x9E, 0x73, 0xFF}, color.RGBA{0xCC, 0x79, 0xA7, 0xFF},
	}
	floorColour = color.RGBA{0x77, 0x77, 0x77, 0xFF}
	dashes      = [][]vg.Length{nil, {vg.Points(6), vg.Points(2)}, {vg.Points(2), vg.Points(2)}, {vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}}
)

// style is that of the i-th row of a plot.
func style(i int, r *Row) draw.LineStyle {
	s := plotter.DefaultLineStyle
	s.Width = vg.Points(1.6)
	s.Color, s.Dashes = colours[i%len(colours)], dashes[i%len(dashes)]
	if r.By == Floor {
		s.Color, s.Dashes = floorColour, []vg.Length{vg.Points(3), vg.Points(3)}
	}
	return s
}

// latencyPlot shows the latency of each row by percentile. The x axis is 1 / (1 - p),
// which gives each further nine the same room.
func latencyPlot(group []*Row) (string, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "percentile", "latency"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	low, high, right := math.Inf(1), 0.0, 100.0
	for i, row := range group {
		points := latencyPoints(row)
		if len(points) == 0 {
			continue
		}
		low, high = min(low, points[0].Y), max(high, points[len(points)-1].Y)
		right = max(right, points[len(points)-1].X)
		if err := addLine(p, points, style(i, row), row.By); err != nil {
			return "", err
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	p.X.Min, p.X.Max = 1, right
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high*1.01)))
	p.X.Tick.Marker = plot.ConstantTicks(percentileTicks(right))
	p.Y.Tick.Marker = plot.ConstantTicks(timeTicks(p.Y.Min, p.Y.Max))
	p.Legend.Top, p.Legend.Left = true, true
	return render(p)
}

// latencyPoints are the steps of the distribution, at most some dozens for each nine.
func latencyPoints(r *Row) plotter.XYs {
	n := r.Hist.TotalCount()
	if n == 0 {
		return nil
	}
	var points plotter.XYs
	for x := 1.0; x <= float64(n); x *= 1.05 {
		points = append(points, plotter.XY{X: x, Y: float64(r.Hist.ValueAtQuantile(100 * (1 - 1/x)))})
	}
	return append(points, plotter.XY{X: math.Max(float64(n), 2), Y: float64(r.Hist.Max())})
}

// percentileTicks are at 0, 50, 90, 99, 99.9 … %.
func percentileTicks(right float64) []plot.Tick {
	ticks := []plot.Tick{{Value: 1, Label: "0 %"}, {Value: 2, Label: "50 %"}}
	for digits, x := 0, 10.0; x <= right*1.001; x *= 10 {
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprintf("%.*f %%", max(0, digits-1), 100*(1-1/x))})
		digits++
	}
	return ticks
}

// timeTicks are at the powers of ten, in ns.
func timeTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for y := low; y <= high*1.001; y *= 10 {
		ticks = append(ticks, plot.Tick{Value: y, Label: tickTime(y)})
		for m := 2.0; m < 10 && y*m < high; m++ {
			ticks = append(ticks, plot.Tick{Value: y * m})
		}
	}
	return ticks
}

func tickTime(ns float64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= unit.ns*0.999 {
			return fmt.Sprintf("%.0f %s", ns/unit.ns, unit.name)
		}
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// throughputPlot shows the calls per second of each row, over the time of its turns.
func throughputPlot(group []*Row) (string, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "time of its own turns (s)", "calls per second"
	high := 0.0
	for i, row := range group {
		var points plotter.XYs
		at := 0.0
		for _, round := range row.Rounds {
			if round.Elapsed <= 0 {
				continue
			}
			seconds := round.Elapsed.Seconds()
			points = append(points, plotter.XY{X: at + seconds/2, Y: float64(round.Calls) / seconds})
			high = max(high, points[len(points)-1].Y)
			at += seconds
		}
		if len(points) == 0 {
			continue
		}
		if err := addLine(p, points, style(i, row), row.By); err != nil {
			return "", err
		}
	}
	p.X.Min = 0
	p.X.Max = max(p.X.Max, 1e-3)
	p.Y.Min, p.Y.Max = 0, max(high*1.25, 1)
	p.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = number(ticks[i].Value)
			}
		}
		return ticks
	})
	p.Legend.Top = true
	return render(p)
}

func addLine(p *plot.Plot, points plotter.XYs, s draw.LineStyle, name string) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.LineStyle = s
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

func render(p *plot.Plot) (string, error) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xDD}, color.Gray{0xDD}
	p.Add(grid)
	p.Legend.ThumbnailWidth, p.Legend.Padding = vg.Points(28), vg.Points(2)
	if !p.Legend.Left {
		p.Legend.XOffs = -vg.Points(6)
	}
	for _, s := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant = "Sans"
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var out strings.Builder
	_, err := canvas.WriteTo(&out)
	return out.String(), err
}
