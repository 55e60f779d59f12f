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

// picture embeds a figure in the document. Word requires two references to an SVG file.
func (w *word) picture(f figure) {
	w.pictures++
	n, name, extra := w.pictures, "png", ""
	if f.svg {
		name = "svg"
	}
	wide, high := sizeOf(f)
	id, title := w.medium(fmt.Sprintf("figure%d.%s", n, name), f.body), escaped(text.Clip(f.title, maxTip))
	if f.svg {
		extra = `<a:extLst><a:ext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}"><asvg:svgBlip xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main" r:embed="` + id + `"/></a:ext></a:extLst>`
	}
	fmt.Fprintf(&w.body, `<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Figure %d" descr="%s"/>`+
		`<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">`+
		`<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="%d" name="Figure %d"/><pic:cNvPicPr/></pic:nvPicPr>`+
		`<pic:blipFill><a:blip r:embed="%s">%s</a:blip><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`+
		`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`,
		wide, high, n, n, title, n, n, id, extra, wide, high)
}

// medium adds a media file and returns its relationship id.
func (w *word) medium(name string, body []byte) string {
	w.media = append(w.media, part{"word/media/" + name, body})
	id := "media" + strconv.Itoa(len(w.media))
	fmt.Fprintf(&w.relations, `<Relationship Id="%s" Type="%s/image" Target="media/%s"/>`, id, relationTypes, name)
	return id
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
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		token, err := d.Token()
		if err != nil {
			return 0, 0, false
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		var box []string
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "width":
				wide = length(a.Value)
			case "height":
				high = length(a.Value)
			case "viewBox":
				box = strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' })
			}
		}
		if (wide <= 0 || high <= 0) && len(box) == 4 {
			wide, high = length(box[2]), length(box[3])
		}
		const most = 1e6
		return wide, high, wide > 0 && high > 0 && wide < most && high < most
	}
}

// length converts an SVG length to pixels; 0: not a length, or relative.
func length(s string) float64 {
	s = strings.TrimSpace(s)
	unit := strings.TrimLeft(s, "0123456789.")
	n, err := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	scale := map[string]float64{"": 1, "px": 1, "pt": 4.0 / 3, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pc": 16}[unit]
	if err != nil {
		return 0
	}
	return n * scale
}
