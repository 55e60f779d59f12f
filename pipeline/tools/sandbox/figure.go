package sandbox

import (
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Figure is a harmless SVG drawing.
type Figure struct {
	Name  string // the program's name of the file
	Title string // the drawing's own title, else the words of its file name; one line
	Body  []byte
}

// Figures returns the cleaned drawings among the files, and a message for each file that is not a valid drawing.
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

func figure(f File) (Figure, error) {
	out := Figure{Name: printable(f.Name)}
	var err error
	if out.Body, err = cleanSVG(f.Body); err != nil {
		return Figure{}, err
	}
	if out.Title = clipped(svgTitle(out.Body)); out.Title == "" {
		name := strings.TrimSuffix(out.Name, path.Ext(out.Name))
		out.Title = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_- ", r) }), " ")
	}
	return out, nil
}

// svgTitle returns the title of a whole drawing. body: the output of cleanSVG.
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

// clipped returns a title on one line, cut to maxTitle.
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

// printable makes a file name from an untrusted program safe for a line of text.
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
