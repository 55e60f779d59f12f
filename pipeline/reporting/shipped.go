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

// ShippedTemplates returns the names of the templates that come with the program.
func ShippedTemplates() []string {
	files, err := shipped.ReadDir("templates/en")
	if err != nil {
		panic(err) // they are part of the program
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}

// ShippedTemplate returns the text of a template that comes with the program. language: of the report. The error says
// in which languages there is one.
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
