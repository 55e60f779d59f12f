package extract

import (
	"cmp"
	"encoding/json"
	"strings"

	"nightdesk/pipeline/text"
)

// Image is a picture that a page shows in its text and says something about.
type Image struct {
	Source  string // its address as the page writes it, perhaps relative to Base
	Base    string // that the page gives its relative addresses; empty: its own address
	Caption string // what the page says below it, else its alternative text; one line
	Licence string // a name or an address, as the page states it; empty: it states none
	Section int    // index in Document.Sections
}

// Limits of the images of a page.
const (
	maxImages  = 50
	maxAddress = 2000 // bytes; a longer one is mostly the picture itself
	maxCaption = 300
)

// image notes a picture at the place that the text has reached. figure: the element around it; nil: there is none. One
// without words, or that says it is small, is decoration.
func (w *htmlWalker) image(n, figure *node) {
	i := Image{Source: imageSource(n), Caption: caption(n, figure), Section: len(w.b.sections) - 1}
	if i.Source == "" || len(i.Source) > maxAddress || i.Caption == "" || len(w.b.images) == maxImages {
		return
	}
	if figure != nil {
		i.Licence = licenceIn(figure, "")
	}
	w.b.images = append(w.b.images, i)
}

// imageSource is the address of a picture, also of one that a script is to load when it is scrolled to.
func imageSource(n *node) string {
	first, _, _ := strings.Cut(strings.TrimSpace(n.attr["srcset"]), " ")
	for _, address := range []string{n.attr["src"], n.attr["data-src"], strings.TrimSuffix(first, ",")} {
		if address = strings.TrimSpace(address); address != "" && !strings.HasPrefix(strings.ToLower(address), "data:") {
			return address
		}
	}
	return ""
}

func caption(n, figure *node) string {
	said := ""
	if figure != nil {
		if below := figure.find(func(k *node) bool { return k.tag == "figcaption" }); below != nil {
			said = inlineText(below)
		}
	}
	return text.Start(cmp.Or(said, clean(n.attr["alt"])), maxCaption)
}

// licenceIn returns the licence that an element states by rel=license or as a property of schema.org. skip: a kind of
// element in it that does not count.
func licenceIn(n *node, skip string) string {
	for _, k := range n.kids {
		if k.tag == "" || k.tag == skip {
			continue
		}
		said := ""
		if hasWord(k.attr["rel"], "license") || hasWord(k.attr["itemprop"], "license") {
			said = text.Start(cmp.Or(clean(k.attr["href"]), clean(k.attr["content"]), inlineText(k)), maxCaption)
		}
		if said = cmp.Or(said, licenceIn(k, skip)); said != "" {
			return said
		}
	}
	return ""
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// licensed completes images by what the page says outside of its text: linked data about one of them, a base, and the
// licence of all that it has.
func licensed(images []Image, tree *node) []Image {
	if len(images) == 0 {
		return nil
	}
	base := ""
	if b := tree.find(func(n *node) bool { return n.tag == "base" && n.attr["href"] != "" }); b != nil {
		base = strings.TrimSpace(b.attr["href"])
	}
	linked, page := linkedLicences(tree), licenceIn(tree, "figure")
	for i := range images {
		images[i].Base = base
		images[i].Licence = cmp.Or(images[i].Licence, linked[images[i].Source], page)
	}
	return images
}

// linkedLicences returns the licences that the linked data of a page state of images, by their addresses.
func linkedLicences(tree *node) map[string]string {
	licences := map[string]string{}
	tree.find(func(n *node) bool {
		if n.tag != "script" || !strings.EqualFold(n.attr["type"], "application/ld+json") || len(n.kids) == 0 {
			return false
		}
		var data any
		if text := n.kids[0].text; len(text) <= maxLinked && json.Unmarshal([]byte(text), &data) == nil {
			imageObjects(data, licences)
		}
		return false
	})
	return licences
}

func imageObjects(data any, licences map[string]string) {
	switch data := data.(type) {
	case []any:
		for _, d := range data {
			imageObjects(d, licences)
		}
	case map[string]any:
		licence, _ := data["license"].(string)
		for _, key := range []string{"contentUrl", "url"} {
			if address, _ := data[key].(string); address != "" && licence != "" && data["@type"] == "ImageObject" {
				licences[address] = text.Start(clean(licence), maxCaption)
			}
		}
		for _, d := range data {
			imageObjects(d, licences)
		}
	}
}
