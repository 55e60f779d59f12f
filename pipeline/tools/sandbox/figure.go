package sandbox

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Figure is a picture that can be shown: checked, and made harmless.
type Figure struct {
	Name  string // as the program called the file
	Title string // what the picture calls itself, else the words of its name; one line
	Ext   string // svg or png
	Body  []byte
}

// Figures returns those of the files that are pictures, made harmless, and a line for each that is none.
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
func figure(f File) (out Figure, err error) {
	out.Name = printable(f.Name)
	if bytes.HasPrefix(f.Body, []byte(pngMagic)) {
		out.Ext = "png"
		out.Body, err = CleanPNG(f.Body)
	} else {
		out.Ext = "svg"
		if out.Body, err = CleanSVG(f.Body); err == nil {
			out.Title = clipped(svgTitle(out.Body))
		}
	}
	if out.Title == "" {
		name := strings.TrimSuffix(out.Name, path.Ext(out.Name))
		out.Title = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_- ", r) }), " ")
	}
	return out, err
}

// svgTitle returns the title of a drawing as a whole; body: what CleanSVG has made.
func svgTitle(body []byte) string {
	var svg struct {
		Title string `xml:"title"`
	}
	if xml.Unmarshal(body, &svg) != nil {
		return ""
	}
	return svg.Title
}

const maxTitle = 160 // characters

// clipped makes one line of bounded length of a title.
func clipped(title string) string {
	title = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r == 0x7f, r == utf8.RuneError:
			return -1
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	if r := []rune(title); len(r) > maxTitle {
		title = strings.TrimRight(string(r[:maxTitle-1]), " ") + "…"
	}
	return title
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
