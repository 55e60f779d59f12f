package formats

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"strconv"
	"strings"

	"nightdesk/pipeline/text"
)

// Sizes of pictures in a document, in English Metric Units: 914,400 per inch.
const (
	emuPerPixel = 9525 // at 96 pixels per inch
	maxWidth    = pageWidth * 635
	maxHeight   = 20 * 360_000 // 20 cm
)

// picture embeds a figure in the document.
func (w *word) picture(f figure) {
	n, kind := len(w.media)+1, "png"
	if f.svg {
		kind = "svg"
	}
	name, id := fmt.Sprintf("media/figure%d.%s", n, kind), fmt.Sprintf("media%d", n)
	w.media = append(w.media, part{"word/" + name, f.body})
	w.relations = append(w.relations, relation{ID: id, Kind: "image", Target: name})
	wide, high := sizeOf(f)
	w.body.Write(fill("picture", struct {
		Number, Wide, High int
		Title, Medium      string
		SVG                bool
	}{n, wide, high, text.Clip(f.title, maxTip), id, f.svg}))
}

// sizeOf returns the displayed size of a figure, limited to the page.
func sizeOf(f figure) (wide, high int) {
	x, y := 640.0, 480.0
	if f.svg {
		if a, b, ok := svgSize(f.body); ok {
			x, y = a, b
		}
	} else if c, err := png.DecodeConfig(bytes.NewReader(f.body)); err == nil && c.Width > 0 && c.Height > 0 {
		x, y = float64(c.Width), float64(c.Height)
	}
	scale := min(1, maxWidth/(x*emuPerPixel), maxHeight/(y*emuPerPixel))
	return max(1, int(math.Round(x*emuPerPixel*scale))), max(1, int(math.Round(y*emuPerPixel*scale)))
}

// svgSize returns the size of an SVG in pixels, from the attributes of its first element.
func svgSize(body []byte) (wide, high float64, ok bool) {
	var image struct {
		Width  string `xml:"width,attr"`
		Height string `xml:"height,attr"`
		Box    string `xml:"viewBox,attr"`
	}
	_ = xml.Unmarshal(body, &image) // what cannot be read has no size
	wide, high = length(image.Width), length(image.Height)
	if box := strings.Fields(image.Box); !(usable(wide) && usable(high)) && len(box) == 4 {
		wide, high = length(box[2]), length(box[3])
	}
	return wide, high, usable(wide) && usable(high)
}

func usable(length float64) bool { return length > 0 && length < 1e6 }

// length converts an SVG length to pixels; 0: not a length, or relative.
func length(s string) float64 {
	s = strings.TrimSpace(s)
	unit := strings.TrimLeft(s, "0123456789.")
	n, _ := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	scale := map[string]float64{"": 1, "px": 1, "pt": 4.0 / 3, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pc": 16}
	return n * scale[unit]
}
