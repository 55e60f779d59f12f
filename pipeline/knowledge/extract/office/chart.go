package office

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// Limits of a chart: points of a series, and levels of their categories.
const (
	maxPoints = 10_000
	maxLevels = 10
)

// Inner reads a file that stands in another. The name or the media type tell its format.
type Inner func(name, mediaType string, data []byte) (document.Document, error)

// chunk writes a document that stands in this one, with its headings from a level down. Damaged ones are left out.
func (f *archive) chunk(b *document.Builder, name string, level int) {
	data, err := f.read(name)
	if err != nil || data == nil {
		return
	}
	if doc, err := f.inner(name, "", data); err == nil {
		b.Append(doc, level)
	}
}

// drawings writes the charts, diagrams and embedded documents that an element shows. targets are the relationships of
// its part. Damaged ones are left out.
func (f *archive) drawings(b *document.Builder, targets map[string]string, e *xmltree.Element) {
	e.Visit(func(k *xmltree.Element) bool {
		switch k.Name {
		case "chart":
			f.chart(b, targets[k.Attr["id"]])
		case "relIds":
			f.diagram(b, targets[k.Attr["dm"]])
		case "oleObj", "OLEObject":
			f.chunk(b, targets[k.Attr["id"]], 3)
		}
		return true
	})
}

// series is a row of values of a chart.
type series struct {
	name               string
	categories, values []string
}

// chart writes a chart as a table: a row for each category, a column for each series.
func (f *archive) chart(b *document.Builder, name string) {
	var all []series
	var title string
	var axes []string
	_ = f.each(name, "title ser data", func(e *xmltree.Element) {
		switch {
		case e.Name == "ser":
			s := series{name: strings.Join(points(e.Child("tx")), " ")}
			s.categories = slices.Concat(points(e.Child("cat")), points(e.Child("xVal")))
			s.values = slices.Concat(points(e.Child("val")), points(e.Child("yVal")))
			all = append(all, s)
		case e.Name == "data": // the charts of newer versions
			all = append(all, series{categories: points(e.Child("strDim")), values: points(e.Child("numDim"))})
		case len(all) == 0:
			title = cmp.Or(title, slideLine(e))
		default:
			axes = append(axes, slideLine(e))
		}
	})
	axes = append(axes, "", "")
	b.Paragraph(strings.Trim(title+": "+axes[1], ": "))
	for len(all) > 0 {
		same := slices.IndexFunc(all, func(s series) bool { return !slices.Equal(s.categories, all[0].categories) })
		if same < 0 {
			same = len(all)
		}
		chartTable(axes[0], all[:same]).Write(b)
		all = all[same:]
	}
}

func chartTable(axis string, all []series) *document.Table {
	t := &document.Table{}
	t.Row()
	t.Cell(axis, 1, 1)
	rows := 0
	for _, s := range all {
		t.Cell(s.name, 1, 1)
		rows = max(rows, len(s.values))
	}
	for i := range rows {
		t.Row()
		t.Cell(at(all[0].categories, i), 1, 1)
		for _, s := range all {
			t.Cell(at(s.values, i), 1, 1)
		}
	}
	return t
}

func at(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return ""
}

// points returns the texts of a series in order, as they are shown. Of several levels of categories, the outer ones
// stand before the inner ones.
func points(e *xmltree.Element) (texts []string) {
	code := cmp.Or(e.Find("formatCode").Text, e.Find("lvl").Attr["formatCode"])
	levels := e.All("lvl")
	if len(levels) == 0 {
		levels = []*xmltree.Element{e}
	}
	levels = levels[:min(len(levels), maxLevels)]
	for _, level := range levels {
		own := map[int]string{}
		last := len(texts) - 1
		for i, p := range level.All("pt") {
			index := xmltree.Number(cmp.Or(p.Attr["idx"], strconv.Itoa(i)), -1)
			if index < 0 || index >= maxPoints {
				continue
			}
			own[index] = shown(cmp.Or(p.Child("v").Text, p.Text), code, time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC))
			last = max(last, index)
		}
		outer := len(texts) > 0
		text := ""
		for i := range last + 1 {
			if i == len(texts) {
				texts = append(texts, "")
			}
			if own[i] != "" || !outer {
				text = own[i]
			}
			texts[i] = strings.TrimSpace(text + " " + texts[i])
		}
	}
	if len(texts) == 0 { // a literal name
		if v := e.Child("v").Text; v != "" {
			return []string{v}
		}
	}
	return texts
}

// diagramPoints are the types of points that are not connections or drawings.
var diagramPoints = document.Set("doc node asst")

// diagram writes the texts of a SmartArt diagram as a list, each below the one that it belongs to.
func (f *archive) diagram(b *document.Builder, name string) {
	texts := map[string]string{}
	below := map[string][]*xmltree.Element{}
	var ids []string
	_ = f.each(name, "pt cxn", func(e *xmltree.Element) {
		switch kind := e.Attr["type"]; {
		case e.Name == "cxn" && (kind == "" || kind == "parOf"):
			below[e.Attr["srcId"]] = append(below[e.Attr["srcId"]], e)
		case e.Name == "pt" && diagramPoints[cmp.Or(kind, "node")]:
			texts[e.Attr["modelId"]] = slideLine(e.Child("t"))
			ids = append(ids, e.Attr["modelId"])
		}
	})
	written := map[string]bool{}
	var write func(id string, depth int)
	write = func(id string, depth int) {
		if written[id] || depth > 20 {
			return
		}
		written[id] = true
		b.Item("-", texts[id])
		slices.SortStableFunc(below[id], func(x, y *xmltree.Element) int {
			return cmp.Compare(xmltree.Number(x.Attr["srcOrd"], 0), xmltree.Number(y.Attr["srcOrd"], 0))
		})
		for _, c := range below[id] {
			write(c.Attr["destId"], depth+1)
		}
	}
	for _, id := range ids {
		write(id, 0)
	}
}
