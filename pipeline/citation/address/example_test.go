package address_test

import (
	"fmt"

	"nightdesk/pipeline/citation/address"
)

func ExampleIndex_Match() {
	index := address.NewIndex()
	index.Add("https://example.org/guide/locks?lang=en", 7)
	for _, raw := range []string{
		"http://EXAMPLE.org/guide/locks/?lang=en&utm_source=mail",
		"https://example.org/guide/lo...",
		"https://example.org/other",
	} {
		source, level, ok := index.Match(raw)
		fmt.Println(source, level, ok)
	}
	// Output:
	// 7 exact true
	// 7 truncation true
	// 0  false
}
