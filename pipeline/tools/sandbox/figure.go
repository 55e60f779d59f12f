package sandbox

import (
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"nightdesk/topicqueue"
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
	if out.Title = topicqueue.Clip(topicqueue.OneLine(svgTitle(out.Body)), maxTitle); out.Title == "" {
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

const maxTitle = 300 // bytes

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
