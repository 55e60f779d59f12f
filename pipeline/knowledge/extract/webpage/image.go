package webpage

import (
	"cmp"
	"strings"

	"nightdesk/pipeline/text"

	"nightdesk/pipeline/knowledge/extract/document"
)

// Limits for the images of a page.
const (
	maxImages  = 50
	maxAddress = 2000 // bytes; longer addresses usually contain the image itself
	maxCaption = 300
)

// image records an image at the current position in the text. figure is the enclosing element or nil. Images without a
// description are treated as decoration and skipped.
func (w *walker) image(n, figure *node) {
	i := document.Image{Source: imageSource(n), Caption: caption(n, figure), Section: w.b.Section()}
	if i.Source == "" || len(i.Source) > maxAddress || i.Caption == "" || len(w.images) == maxImages {
		return
	}
	if figure != nil {
		i.Licence = licenceIn(figure, "")
	}
	w.images = append(w.images, i)
}

// imageSource returns the address of an image, including one that a script loads on scrolling.
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
	return text.Start(cmp.Or(said, document.Clean(n.attr["alt"])), maxCaption)
}

// licenceIn returns the licence that an element states with rel=license or a schema.org property. It skips descendants
// with the tag skip.
func licenceIn(n *node, skip string) string {
	for _, k := range n.kids {
		if k.tag == "" || k.tag == skip {
			continue
		}
		said := ""
		if hasWord(k.attr["rel"], "license") || hasWord(k.attr["itemprop"], "license") {
			stated := document.Clean(cmp.Or(k.attr["href"], k.attr["content"]))
			said = text.Start(cmp.Or(stated, inlineText(k)), maxCaption)
		}
		if said = cmp.Or(said, licenceIn(k, skip)); said != "" {
			return said
		}
	}
	return ""
}

// licensed adds information from outside the text to images: licences from linked data, the base address and the
// licence of the whole page.
func licensed(images []document.Image, tree *node) []document.Image {
	if len(images) == 0 {
		return nil
	}
	base := ""
	if b := tree.find(func(n *node) bool { return n.tag == "base" && n.attr["href"] != "" }); b != nil {
		base = strings.TrimSpace(b.attr["href"])
	}
	linked, page := map[string]string{}, licenceIn(tree, "figure")
	for data := range linkedData(tree) {
		imageObjects(data, linked)
	}
	for i := range images {
		images[i].Base = base
		images[i].Licence = cmp.Or(images[i].Licence, linked[images[i].Source], page)
	}
	return images
}

// imageObjects adds the licences that linked data states for images to licences, keyed by image address.
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
				licences[address] = text.Start(document.Clean(licence), maxCaption)
			}
		}
		for _, d := range data {
			imageObjects(d, licences)
		}
	}
}
