package config

import (
	"fmt"
	"slices"
	"strings"
)

const formatsAllowed = "some of html, docx with commas between them; md: Markdown alone"

// reportFormats returns the report formats other than Markdown, without duplicates.
func reportFormats(list string) []string {
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(list), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "md" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func checkFormats(list string) error {
	for _, name := range reportFormats(list) {
		if name != "html" && name != "docx" {
			return fmt.Errorf("%q is not a format; use %s", clip(name), formatsAllowed)
		}
	}
	return nil
}
