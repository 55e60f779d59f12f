package quantity

import (
	_ "embed"
	"maps"
	"strconv"
	"strings"
)

//go:embed tables.txt
var tables string

// list is one list of the tables: keys with their words, in order.
type list []struct {
	key   string
	words []string
}

var lists = readTables(tables)

func readTables(text string) map[string]list {
	out := map[string]list{}
	name := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Fields(line)
		if !strings.HasPrefix(line, " ") {
			name = words[0]
			out[name] = append(out[name], list{{key: strings.TrimSuffix(words[1], ":")}}...)
			words = words[2:]
		}
		last := &out[name][len(out[name])-1]
		for _, w := range words {
			last.words = append(last.words, strings.ReplaceAll(w, "_", " "))
		}
	}
	return out
}

// words returns the set of all words of a list.
func words(name string) map[string]bool {
	out := map[string]bool{}
	for _, entry := range lists[name] {
		for _, w := range entry.words {
			out[w] = true
		}
	}
	return out
}

// numbers maps the words of a list to their keys, which are numbers.
func numbers(name string) map[string]float64 {
	out := map[string]float64{}
	for _, entry := range lists[name] {
		for _, w := range entry.words {
			out[w] = parsed(entry.key)
		}
	}
	return out
}

func parsed(number string) float64 {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		panic("quantity: number " + number) // an error in the tables
	}
	return f
}

// unit is a unit with its conversion to the base unit: value*factor + offset.
type unit struct {
	kind           Kind
	base           string
	factor, offset float64
}

// units maps names to units.
var units = func() map[string]unit {
	out := map[string]unit{}
	for name, kind := range map[string]Kind{"unit": Measure, "money": Money, "percent": Percent, "points": Points} {
		for _, entry := range lists[name] {
			var names []string
			for _, w := range entry.words {
				name, factor, ok := strings.Cut(w, "=")
				if names = append(names, name); ok {
					for _, name := range names {
						out[name] = unit{kind, entry.key, parsed(factor), 0}
					}
					names = nil
				}
			}
		}
	}
	for name, u := range maps.Clone(out) { // for example kilowatt hours
		for prefix, factor := range numbers("prefix") {
			if u.kind == Measure && len(name) > 3 && isLetter(rune(name[0])) && out[prefix+name].base == "" {
				out[prefix+name] = unit{Measure, u.base, u.factor * factor, 0}
			}
		}
	}
	for code := range words("code") {
		out[code] = unit{Money, code, 1, 0}
	}
	for name, u := range out { // only temperatures have an offset
		switch u.base {
		case "°C":
			out[name] = unit{Measure, "K", 1, 273.15}
		case "°F":
			out[name] = unit{Measure, "K", 5. / 9, 459.67 * 5 / 9}
		}
	}
	return out
}()

var (
	labels, dotted, magnitudes    = words("label"), words("dotted"), numbers("power")
	months, smallMonths, germanly = numbers("month"), numbers("smallmonth"), words("germanmonth")
)
