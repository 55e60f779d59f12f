package reporting

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed templates
var shipped embed.FS

// ShippedTemplates returns the names of the embedded templates.
func ShippedTemplates() []string {
	files, err := shipped.ReadDir("templates/en")
	if err != nil {
		panic(err) // the templates are embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}

// ShippedTemplate returns the text of an embedded template. language: that of the report. The error lists the available
// templates or languages.
func ShippedTemplate(name, language string) (string, error) {
	text, err := shipped.ReadFile(path.Join("templates", language, name+".md"))
	if err == nil {
		return string(text), nil
	}
	if !slices.Contains(ShippedTemplates(), name) {
		return "", fmt.Errorf("there is no template %q; there are %s", name, strings.Join(ShippedTemplates(), ", "))
	}
	return "", fmt.Errorf("the template %q is there for reports in English (en) and Chinese (zh), not in %q", name,
		language)
}
