package bibliography

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// escapes escapes text for LaTeX. BibTeX also counts escaped braces, so braces are replaced by commands.
var escapes = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\textbraceleft{}`, `}`, `\textbraceright{}`,
	`&`, `\&`, `%`, `\%`, `$`, `\$`,
	`#`, `\#`, `_`, `\_`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`)

// inURL escapes the characters that would end a field in an address.
var inURL = strings.NewReplacer(`{`, "%7B", `}`, "%7D", `\`, "%5C", ` `, "%20")

func bibTeX(entries []entry) []byte {
	var b strings.Builder
	for _, e := range entries {
		kind, by := "misc", "publisher"
		if e.paper() {
			kind = "article"
			by = "journal"
		}
		fmt.Fprintf(&b, "@%s{%s,\n  title = {{%s}}", kind, e.id, escapes.Replace(e.title))
		field := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, ",\n  %s = {%s}", name, value)
			}
		}
		var authors []string
		for _, p := range e.authors {
			if p.given == "" {
				authors = append(authors, "{"+escapes.Replace(p.family)+"}")
			} else {
				authors = append(authors, "{"+escapes.Replace(p.family)+"}, "+escapes.Replace(p.given))
			}
		}
		if e.others {
			authors = append(authors, "others")
		}
		field("author", strings.Join(authors, " and "))
		field(by, escapes.Replace(e.publisher))
		if len(e.date) > 0 {
			field("year", fmt.Sprintf("%04d", e.date[0]))
			field("date", dashed(e.date))
		}
		field("doi", inURL.Replace(e.doi))
		field("url", inURL.Replace(e.url))
		if e.url != "" && !e.read.IsZero() {
			field("urldate", e.read.UTC().Format(time.DateOnly))
		}
		field("note", escapes.Replace(e.note))
		b.WriteString("\n}\n\n")
	}
	return []byte(b.String())
}

// dashed formats a date as in ISO 8601.
func dashed(date []int) string {
	var b strings.Builder
	for i, n := range date {
		fmt.Fprintf(&b, []string{"%04d", "-%02d", "-%02d"}[i], n)
	}
	return b.String()
}

func ris(entries []entry) []byte {
	var b strings.Builder
	for _, e := range entries {
		tag := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%s  - %s\r\n", name, value)
			}
		}
		kind, by := map[string]string{"web": "ELEC", "document": "GEN"}[e.kind], "PB"
		if e.paper() {
			kind, by = "JOUR", "T2"
		}
		if kind == "" {
			kind = "GEN"
		}
		tag("TY", kind)
		tag("ID", e.id)
		tag("TI", e.title)
		for _, p := range e.authors {
			if p.given == "" {
				tag("AU", p.family)
			} else {
				tag("AU", p.family+", "+p.given)
			}
		}
		if e.others {
			tag("AU", "et al.") // RIS has no other notation for an incomplete list
		}
		tag(by, e.publisher)
		if len(e.date) > 0 {
			tag("PY", fmt.Sprintf("%04d", e.date[0]))
			parts := append(strings.Split(dashed(e.date), "-"), "", "")[:3]
			tag("DA", strings.Join(parts, "/")+"/")
		}
		tag("DO", e.doi)
		tag("UR", e.url)
		if e.url != "" && !e.read.IsZero() {
			tag("Y2", e.read.UTC().Format("2006/01/02/"))
		}
		tag("N1", e.note)
		b.WriteString("ER  - \r\n\r\n")
	}
	return []byte(b.String())
}

type (
	cslItem struct {
		ID        string    `json:"id"`
		Type      string    `json:"type"`
		Title     string    `json:"title"`
		Author    []cslName `json:"author,omitempty"`
		Container string    `json:"container-title,omitempty"`
		Publisher string    `json:"publisher,omitempty"`
		Issued    *cslDate  `json:"issued,omitempty"`
		Accessed  *cslDate  `json:"accessed,omitempty"`
		DOI       string    `json:"DOI,omitempty"`
		URL       string    `json:"URL,omitempty"`
		Note      string    `json:"note,omitempty"`
	}
	cslName struct {
		Family  string `json:"family,omitempty"`
		Given   string `json:"given,omitempty"`
		Literal string `json:"literal,omitempty"`
	}
	cslDate struct {
		Parts [][]int `json:"date-parts"`
	}
)

func csl(entries []entry) ([]byte, error) {
	items := []cslItem{}
	for _, e := range entries {
		item := cslItem{ID: e.id, Type: "document", Title: e.title, DOI: e.doi, URL: e.url, Note: e.note}
		switch {
		case e.paper():
			item.Type, item.Container = "article-journal", e.publisher
		case e.url != "":
			item.Type, item.Container = "webpage", e.publisher
		default:
			item.Publisher = e.publisher
		}
		for _, p := range e.authors {
			if p.given == "" {
				item.Author = append(item.Author, cslName{Literal: p.family})
			} else {
				item.Author = append(item.Author, cslName{Family: p.family, Given: p.given})
			}
		}
		if e.others {
			item.Author = append(item.Author, cslName{Literal: "et al."})
		}
		if len(e.date) > 0 {
			item.Issued = &cslDate{[][]int{e.date}}
		}
		if t := e.read.UTC(); e.url != "" && !e.read.IsZero() {
			item.Accessed = &cslDate{[][]int{{t.Year(), int(t.Month()), t.Day()}}}
		}
		items = append(items, item)
	}
	body, err := json.MarshalIndent(items, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("list the sources as CSL-JSON: %w", err)
	}
	return append(body, '\n'), nil
}
