package knowledge

import (
	"cmp"
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// around matches articles and words for kinds of items that users add to a name.
var around = regexp.MustCompile(`^(?:the |a |an )?(.+?)(?: (?:function|method|type|command|setting|` +
	`class|module|parameter|option|page|variable|statement|macro|struct|interface))?$`)

// Item returns at most limit passages about a named item: "Theorem 3.1", "Table 2", "§ 4.2", "Chapter 3", a function or
// setting, or a heading. Names must match exactly, except for case, spaces and common abbreviations: 3.1 never matches
// 13.1 or 3.10. For a heading, Item returns the passages of its section in order. "Title › Heading › Subheading" is
// exactly that section, and "Title › Title" is the text before the first heading. If no label has the name, Item
// searches the text for it. Finding nothing is not an error; errors are as for Search.
func (b *finder) Item(ctx context.Context, name string, limit int) ([]Passage, error) {
	limit = min(limit, maxLimit)
	if limit <= 0 || foldName(name) == "" {
		return nil, ctx.Err()
	}
	found, err := b.placed(ctx, name, limit)
	if err != nil {
		return nil, b.failed(ctx, "look up item", err)
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, v := range variants(name) {
		found, err := b.labelled(ctx, v.name, v.within, limit)
		if err != nil {
			return nil, b.failed(ctx, "look up item", err)
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	found, err = b.mentioned(ctx, name, limit)
	if err != nil {
		return nil, b.failed(ctx, "look up item", err)
	}
	return found, nil
}

// placed returns the passages of the section at a full place, including its subsections. If several documents have the
// same title, the first one is used.
func (b *finder) placed(ctx context.Context, name string, limit int) ([]Passage, error) {
	title, headings, ok := strings.Cut(name, topicqueue.PlaceSeparator)
	if !ok {
		return nil, nil
	}
	title = strings.TrimSpace(title)
	path := strings.ReplaceAll(headings, topicqueue.PlaceSeparator, separator)
	found, err := b.selectPassages(ctx, `WHERE p.document = (
			SELECT min(d.id) FROM documents d JOIN sections s ON s.document = d.id
			WHERE d.title = ?1 COLLATE NOCASE AND s.path = ?2 COLLATE NOCASE)
		AND (s.path = ?2 COLLATE NOCASE OR substr(s.path, 1, length(?2) + 1) = (?2 || char(31)) COLLATE NOCASE)
		ORDER BY p.offset LIMIT ?3`, title, path, limit)
	if len(found) > 0 || err != nil || !strings.EqualFold(headings, title) {
		return found, err
	}
	return b.selectPassages(ctx, `WHERE p.document = (SELECT min(id) FROM documents WHERE title = ? COLLATE NOCASE)
		AND s.path = '' ORDER BY p.offset LIMIT ?`, title, limit)
}

// variant is a label to look for. If within is not empty, it must occur in the document's key or title or the section.
type variant struct{ name, within string }

// variants returns the labels that a name may refer to, most exact first.
func variants(name string) []variant {
	var out []variant
	add := func(name, within string) {
		if v := (variant{name, within}); name != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	folded := foldName(name)
	add(folded, "")
	bare := foldName(strings.TrimSuffix(around.ReplaceAllString(folded, "$1"), "()"))
	add(bare, "")
	if n, ok := strings.CutPrefix(bare, "chapter "); ok {
		add("section "+n, "")
	}
	if n, ok := strings.CutPrefix(bare, "section "); ok {
		add(n, "")
		add("chapter "+n, "")
	}
	if strings.ContainsRune(bare, '(') && !strings.ContainsRune(bare, ' ') {
		for _, s := range symbols(bare) {
			add(s, "")
		}
	}
	// sync.Mutex may be the heading Mutex on the page about sync.
	i := strings.LastIndexAny(bare, ".:#/")
	qualified := i > 0 && i+1 < len(bare) && !strings.ContainsRune(bare, ' ')
	if qualified && !unicode.IsDigit(rune(bare[i+1])) {
		add(bare[i+1:], strings.TrimRight(bare[:i], ":"))
	}
	return out
}

// labelTarget is a place in a document that a label names.
type labelTarget struct {
	rank                     int
	document                 int64
	offset                   int
	anchor, path, key, title string
}

// labelTargets returns the places that the label table has for a name.
func (b *finder) labelTargets(ctx context.Context, name, within string, limit int) ([]labelTarget, error) {
	targets, err := collect(ctx, b.read, func(rows *sql.Rows, t *labelTarget) error {
		return rows.Scan(&t.rank, &t.document, &t.offset, &t.anchor, &t.path, &t.key, &t.title)
	}, `SELECT l.rank, l.document, l.offset, l.anchor, s.path, d.key, d.title
		FROM labels l JOIN sections s ON s.id = l.section JOIN documents d ON d.id = l.document
		WHERE l.name = ? ORDER BY l.rank, d.key, l.offset LIMIT ?`, name, 4*limit)
	return slices.DeleteFunc(targets, func(t labelTarget) bool {
		return within != "" && !containsName(t.key+" "+t.title+" "+t.path, within)
	}), err
}

// labelled returns the passages for a name in the label table. Half of the answer is for headings and items with this
// name and what stands below them; terms and parts of symbols follow.
func (b *finder) labelled(ctx context.Context, name, within string, limit int) ([]Passage, error) {
	targets, err := b.labelTargets(ctx, name, within, limit)
	if err != nil {
		return nil, err
	}
	var out []Passage
	for _, step := range []struct {
		from, to int  // ranks
		whole    bool // the whole section or document, not only the place itself
		most     int  // passages in the answer after the step
	}{
		{rankItem, rankTitle, false, limit}, {rankHeading, rankTitle, true, (limit + 1) / 2},
		{rankTerm, rankMention, false, limit}, {rankHeading, rankTitle, true, limit},
	} {
		for _, t := range targets {
			if t.rank < step.from || t.rank > step.to || len(out) >= step.most {
				continue
			}
			path, n := "", 1
			if step.whole {
				t.anchor, n = "", limit
			}
			if step.whole && t.rank == rankHeading {
				path = t.path
			}
			found, err := b.selectPassages(ctx, `WHERE p.document = ?1 AND p.offset + p.size > ?2
				AND (?3 = '' OR s.path = ?3 OR substr(s.path, 1, length(?3) + 1) = ?3 || char(31))
				ORDER BY p.offset LIMIT ?4`, t.document, t.offset, path, n)
			if err != nil {
				return nil, err
			}
			for _, p := range found {
				if len(out) < step.most && !slices.ContainsFunc(out, func(o Passage) bool { return o.ID == p.ID }) {
					p.Anchor, p.Score = cmp.Or(t.anchor, p.Anchor), 1/float64(1+t.rank)
					out = append(out, p)
				}
			}
		}
	}
	return out, nil
}

// mentioned returns passages that contain a name verbatim. A name without digits may also match inflected forms.
func (b *finder) mentioned(ctx context.Context, name string, limit int) ([]Passage, error) {
	if len(terms(name)) == 0 {
		return nil, nil
	}
	ranked, err := b.rank(ctx, phrase(name), "5, 5, 1", 4*limit+20)
	if err != nil {
		return nil, err
	}
	found, err := b.passages(ctx, ranked)
	if err != nil {
		return nil, err
	}
	found = withoutCopies(found)
	exact := slices.DeleteFunc(slices.Clone(found), func(p Passage) bool {
		return !containsName(p.Title+" "+strings.Join(p.Section, " ")+" "+p.Text, foldName(name)) &&
			!containsName(p.Text, strings.ToLower(name))
	})
	if len(exact) == 0 && !strings.ContainsFunc(name, unicode.IsDigit) {
		exact = found
	}
	return exact[:min(len(exact), limit)], nil
}

// containsName reports whether text contains name as a whole: not adjacent to a letter or digit, and not joined to
// another number by a dot or hyphen. Case and kind of white space are ignored.
func containsName(text, name string) bool {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	before, after := "", ""
	if !ideograph(first) && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		before = `(?:^|[^\pL\pN]|[\p{Han}\p{Hiragana}\p{Katakana}])`
	}
	if unicode.IsDigit(first) {
		before = `(?:^|[^\pL\pN.-]|[\p{Han}\p{Hiragana}\p{Katakana}]|(?:^|\PN)[.-])`
	}
	if !ideograph(last) && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
		after = `(?:$|[^\pL\pN]|[\p{Han}\p{Hiragana}\p{Katakana}])`
	}
	if unicode.IsDigit(last) {
		after = `(?:$|[^\pL\pN.-]|[\p{Han}\p{Hiragana}\p{Katakana}]|[.-](?:$|\PN))`
	}
	found, err := regexp.MatchString(before+regexp.QuoteMeta(name)+after, text)
	return err == nil && found
}
