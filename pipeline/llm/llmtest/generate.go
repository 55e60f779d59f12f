package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// Generate returns a valid but arbitrary value for a JSON schema, as JSON text with the properties in the schema's
// order. The same schema and seed give the same text. It supports type, properties, required, items, minItems,
// maxItems, minLength, maxLength, minimum, maximum, enum, const, anyOf, oneOf and references within the schema.
// Optional properties are filled in too. Other keywords, such as pattern, are ignored.
func Generate(schema json.RawMessage, seed string) (json.RawMessage, error) {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	g := generator{root: schema, seed: anyDay.ReplaceAllString(seed, "")}
	var out bytes.Buffer
	if err := g.write(&out, &root, "", 0); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// node is the part of a schema that Generate supports.
type node struct {
	Type       json.RawMessage   `json:"type"`
	Properties properties        `json:"properties"`
	Items      *node             `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	MinLength  int               `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	AnyOf      []*node           `json:"anyOf"`
	OneOf      []*node           `json:"oneOf"`
	Ref        string            `json:"$ref"`
}

// properties keeps the order of the schema.
type properties []property

type property struct {
	name string
	node *node
}

func (p *properties) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("properties: unexpected %v", key)
		}
		n := &node{}
		if err := dec.Decode(n); err != nil {
			return err
		}
		*p = append(*p, property{name, n})
	}
	return nil
}

func (n *node) types() []string {
	var one string
	var many []string
	if json.Unmarshal(n.Type, &one) == nil {
		return []string{one}
	}
	if json.Unmarshal(n.Type, &many) == nil {
		return many
	}
	return nil
}

type generator struct {
	root json.RawMessage
	seed string
}

const maxDepth = 24 // for a recursive schema

// anyDay matches days in a question, which are ignored so that a stub's answer does not change at midnight.
var anyDay = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)

// number returns a value from 0 to n-1 that depends on seed and place.
func (g generator) number(place string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(g.seed + "\x00" + place)) // never fails
	return int(h.Sum32()>>1) % n
}

func (g generator) write(out *bytes.Buffer, n *node, place string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("schema nests deeper than %d at %s", maxDepth, place)
	}
	switch {
	case n.Ref != "":
		target, err := g.resolve(n.Ref)
		if err != nil {
			return err
		}
		return g.write(out, target, place, depth+1)
	case n.Const != nil:
		out.Write(n.Const)
		return nil
	case len(n.Enum) > 0:
		out.Write(n.Enum[g.number(place, len(n.Enum))])
		return nil
	case len(n.AnyOf) > 0:
		return g.write(out, n.AnyOf[0], place, depth+1)
	case len(n.OneOf) > 0:
		return g.write(out, n.OneOf[0], place, depth+1)
	}
	kind := ""
	if types := n.types(); len(types) > 0 {
		kind = types[0]
	} else if len(n.Properties) > 0 {
		kind = "object"
	}
	switch kind {
	case "object":
		return g.object(out, n, place, depth)
	case "array":
		return g.array(out, n, place, depth)
	case "integer", "number":
		fmt.Fprint(out, g.between(n, place, kind == "number"))
	case "boolean":
		fmt.Fprint(out, g.number(place, 2) == 1)
	case "null":
		out.WriteString("null")
	default:
		text, err := json.Marshal(g.text(n, place))
		if err != nil {
			return err
		}
		out.Write(text)
	}
	return nil
}

func (g generator) object(out *bytes.Buffer, n *node, place string, depth int) error {
	out.WriteByte('{')
	for i, p := range n.Properties {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(p.name)
		if err != nil {
			return err
		}
		out.Write(name)
		out.WriteByte(':')
		if err := g.write(out, p.node, place+"/"+p.name, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func (g generator) array(out *bytes.Buffer, n *node, place string, depth int) error {
	count := 1 + g.number(place, 3)
	if n.MaxItems != nil {
		count = min(count, *n.MaxItems)
	}
	count = max(count, n.MinItems)
	out.WriteByte('[')
	for i := range count {
		if i > 0 {
			out.WriteByte(',')
		}
		item := n.Items
		if item == nil {
			item = &node{}
		}
		if err := g.write(out, item, fmt.Sprintf("%s/%d", place, i), depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// between returns a number within the bounds, or from 1 to 3 without bounds. Fractions have 11 possible values.
func (g generator) between(n *node, place string, fraction bool) float64 {
	low, high := 1.0, 3.0
	switch {
	case n.Minimum != nil && n.Maximum != nil:
		low, high = *n.Minimum, *n.Maximum
	case n.Minimum != nil:
		low, high = *n.Minimum, *n.Minimum+2
	case n.Maximum != nil:
		low, high = min(low, *n.Maximum), *n.Maximum
	}
	if fraction {
		return low + (high-low)*float64(g.number(place, 11))/10
	}
	return low + float64(g.number(place, max(int(high-low), 0)+1))
}

var words = strings.Fields(`amber basin cedar delta ember fjord grove harbor island juniper knoll lagoon meadow north
	orchard prairie quarry ridge summit tundra upland valley willow yarrow zenith`)

// text returns a few words that begin with the property's name, so that a reader can see the origin.
func (g generator) text(n *node, place string) string {
	name := place[strings.LastIndexByte(place, '/')+1:]
	text := strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
	for i := 0; i < 4 || len(text) < n.MinLength; i++ {
		text += " " + words[g.number(fmt.Sprintf("%s#%d", place, i), len(words))]
	}
	text = strings.TrimSpace(text)
	if n.MaxLength != nil && len(text) > *n.MaxLength {
		text = text[:*n.MaxLength]
	}
	return text
}

func (g generator) resolve(ref string) (*node, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("schema refers to %s, outside of itself", ref)
	}
	at := g.root
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if part == "" {
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(at, &members); err != nil || members[part] == nil {
			return nil, fmt.Errorf("schema has no %s", ref)
		}
		at = members[part]
	}
	target := &node{}
	if err := json.Unmarshal(at, target); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", ref, err)
	}
	return target, nil
}
