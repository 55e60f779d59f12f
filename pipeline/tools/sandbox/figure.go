package sandbox

import (
	"bytes"
	"fmt"
	"image/png"
	"path"
	"strings"
	"unicode/utf8"
)

// Figure is a picture that can be shown: checked, and made harmless.
type Figure struct {
	Name string // as the program called it
	Ext  string // svg or png
	Body []byte
}

const maxPixels = 4096 // of either side

// Figures returns those of the files that are pictures, SVG sanitised, and a line for each that is none.
func Figures(files []File) (figures []Figure, refused []string) {
	for _, f := range files {
		fig, err := figure(f)
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", printable(f.Name), err))
			continue
		}
		figures = append(figures, fig)
	}
	return figures, refused
}

// figure goes by what a file is and not by what it is called.
func figure(f File) (Figure, error) {
	out := Figure{Name: printable(f.Name), Ext: "svg"}
	var err error
	if bytes.HasPrefix(f.Body, []byte("\x89PNG\r\n\x1a\n")) {
		out.Ext, out.Body = "png", f.Body
		return out, checkPNG(f.Body)
	}
	out.Body, err = CleanSVG(f.Body)
	return out, err
}

func checkPNG(body []byte) error {
	c, err := png.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return fmt.Errorf("not a PNG picture: %w", err)
	case c.Width > maxPixels || c.Height > maxPixels:
		return fmt.Errorf("%d x %d pixels, more than %d", c.Width, c.Height, maxPixels)
	}
	return nil
}

// printable makes a name of a hostile program fit for a line of text.
func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' || strings.ContainsRune("[]()<>\"'`\\\u007f\u2028\u2029", r) {
			return '_'
		}
		return r
	}, path.Base(name))
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80])
	}
	return name
}

func isFigureName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".png")
}
