package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette holds colours that stay apart for colour-blind readers.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff},
	color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	color.RGBA{0x44, 0x44, 0x44, 0xff},
	color.RGBA{0xb8, 0xa8, 0x00, 0xff},
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 3 * vg.Millimeter
	p.BackgroundColor = color.White
	return p
}

// drawLines draws lines with logarithmic axes, on which flat is flat.
func drawLines(path, title, x, y string, lines []line) error {
	p := newPlot(title, x, y)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	p.Legend.Top, p.Legend.Left = true, true
	low, high := math.Inf(1), math.Inf(-1)
	left, right := math.Inf(1), math.Inf(-1)
	for i, l := range lines {
		points := make(plotter.XYs, len(l.x))
		for k := range l.x {
			points[k].X, points[k].Y = l.x[k], l.y[k]
			low, high = min(low, l.y[k]), max(high, l.y[k])
			left, right = min(left, l.x[k]), max(right, l.x[k])
		}
		curve, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		curve.Color, dots.Color = palette[i%len(palette)], palette[i%len(palette)]
		curve.Width, dots.Shape = vg.Points(1.5), draw.CircleGlyph{}
		p.Add(curve, dots)
		if l.name != "" {
			p.Legend.Add(l.name, curve, dots)
		}
	}
	// Whole decades, and at least these: pictures of several series can then be compared.
	p.X.Min, p.X.Max = math.Pow(10, math.Floor(math.Log10(left))), max(1e6, math.Pow(10, math.Ceil(math.Log10(right))))
	p.Y.Min, p.Y.Max = math.Pow(10, math.Min(-1, math.Floor(math.Log10(low)))), max(1e4, math.Pow(10, math.Ceil(math.Log10(high))))
	p.Add(plotter.NewGrid())
	return p.Save(16*vg.Centimeter, 11*vg.Centimeter, path)
}

// drawBars draws horizontal bars, the first on top, with room for long names.
func drawBars(path, title, unit string, bars []bar) error {
	p := newPlot(title, unit, "")
	values, names := make(plotter.Values, len(bars)), make([]string, len(bars))
	for i, b := range bars {
		at := len(bars) - 1 - i
		values[at], names[at] = b.value, b.name+"  "+number(b.value)
	}
	chart, err := plotter.NewBarChart(values, vg.Points(14))
	if err != nil {
		return err
	}
	chart.Horizontal, chart.Color, chart.LineStyle.Width = true, palette[0], 0
	p.Add(chart)
	p.NominalY(names...)
	p.X.Min = 0
	return p.Save(18*vg.Centimeter, vg.Length(len(bars))*0.8*vg.Centimeter+3*vg.Centimeter, path)
}
