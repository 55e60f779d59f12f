package sandbox

import "strings"

func isFigureName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".png")
}
