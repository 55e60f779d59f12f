package recurring

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// Unit is what one text says in one place: a sentence, a heading, a row of a table, a record of JSON.
type Unit struct {
	Start, End int    // bytes of the text
	Mark       uint64 // equal units have equal marks, whatever their white space, case, quotation marks and dashes
	Tells      bool   // it can be news: a sentence or a row with words, not a label
	Stamp      bool   // it says when the page was made or sent, or who looks at it, and nothing else
}

// Units returns the units of a text in order; code has none.
func Units(text string) []Unit {
	var units []Unit
	records := record.FindAllStringIndex(text, -1)
	for _, r := range records {
		units = append(units, Unit{r[0], r[1], mark(text[r[0]:r[1]]), true, false})
	}
	for _, s := range extractive.Sentences(text) {
		if len(records) > 0 && slices.ContainsFunc(records, func(r []int) bool { return s.Start < r[1] && r[0] < s.End }) {
			continue
		}
		stamp := Stamped(s.Text)
		units = append(units, Unit{s.Start, s.End, mark(s.Text), !stamp && !asks(s.Text) && (s.Complete || sentence(s.Text) || item(text, s)), stamp})
	}
	at := 0
	for line := range strings.Lines(text) {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "|") && strings.ContainsFunc(bare, letterOrDigit) {
			start := at + strings.Index(line, "|")
			units = append(units, Unit{start, start + len(bare), mark(bare), strings.ContainsFunc(bare, unicode.IsLetter), false})
		}
		at += len(line)
	}
	slices.SortStableFunc(units, func(a, b Unit) int { return a.Start - b.Start })
	return units
}

// Over returns the units that a part of their text touches.
func Over(units []Unit, start, end int) []Unit {
	var over []Unit
	for _, u := range units {
		if u.Start < end && start < u.End {
			over = append(over, u)
		}
	}
	return over
}

// asks reports a question, which states nothing.
func asks(text string) bool { return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") }

// leastWords is the number of words from which a text with a full stop is a sentence, whether its grammar is understood or not.
const leastWords = 5

// sentence reports a text that ends as sentences do, and is no label.
func sentence(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, `"'”’»)] `), ".") && len(strings.Fields(text)) >= leastWords
}

// record is an object of JSON without others in it, with a name and a value at least.
var record = regexp.MustCompile(`\{\s*"[^"{}]+"\s*:[^{}]+\}`)

// item reports an entry of a list that states something: menus have shorter ones, and without figures.
func item(text string, s extractive.Sentence) bool {
	line := strings.TrimSpace(text[strings.LastIndexByte(text[:s.Start], '\n')+1 : s.Start])
	return line != "" && strings.Trim(line, "-*+•0123456789.)") == "" && len(strings.Fields(s.Text)) >= leastWords && strings.ContainsAny(s.Text, "0123456789")
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var plainSigns = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-")

// mark returns 64 bits of the SHA-256 of a unit's words.
func mark(text string) uint64 {
	text = plainSigns.Replace(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " "))))
	text = strings.TrimFunc(strings.Join(strings.Fields(text), " "), func(r rune) bool { return !letterOrDigit(r) })
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:8])
}

// Stamped reports a text that says when a page was made or sent, or who looks at it, and nothing else.
func Stamped(text string) bool { return stamp(text) || counter(text) }

// stamped begins what a page says of itself rather than of its subject.
var stamped = regexp.MustCompile(`(?i)^(?:(?:this|the|diese|dieser|die|der) (?:page|article|document|version|site|copy|print|seite|artikel) (?:was |has been |is |wurde )?)?(?:last |zuletzt |letzte |most recently )?` +
	`(?:updated?|edited|modified|changed|change|reviewed|generated|printed|delivered|retrieved|accessed|rendered|created|checked|served|crawled|as of|valid on|today is|stand|geändert|aktualisiert|aktualisierung|änderung|abgerufen|erstellt)\b|^(?:更新|最后更新|发布时间|打印时间|访问时间)`)

// maxStamp is the longest text, in bytes, that is taken for a stamp.
const maxStamp = 160

func stamp(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > maxStamp || !stamped.MatchString(text) {
		return false
	}
	return slices.ContainsFunc(quantity.Parse(text), func(q quantity.Quantity) bool { return q.Kind == quantity.Date })
}

// counted is what pages tell of their visitors and of the moment: it is never twice the same.
var counted = regexp.MustCompile(`(?i)\bvisitor (?:number|no\.?|#) ?\d` +
	`|\d[\d.,]*[km]? (?:people|users|visitors|readers|members|guests|others) (?:(?:have|are|is) )?(?:currently |now |already )?(?:viewed|viewing|visited|shared|liked|read|reading|watching|looked at|looking at) (?:this|it)\b` +
	`|^\d[\d.,]*[km]? (?:page )?(?:views?|likes?|shares?|comments?|replies|(?:people|users|visitors|readers|members|guests)[^.]{0,30} online)(?: so far| today)?\.?$` +
	`|^(?:(?:posted|published|updated|edited|added|seen|active|checked|last [a-z]+|by [^.]{1,40}):? )?(?:about )?\d+ (?:seconds?|minutes?|hours?|days?) ago\.?$` +
	`|^(?:page |this page was )?(?:served|rendered|generated) (?:at|in|by|for)\b[^.]*\d|\bsession (?:id )?[0-9a-f]{6,}\b` +
	`|^(?:vor \d+ (?:sekunden|minuten|stunden|tagen))\.?$|\d+ (?:besucher|mitglieder|gäste)[^.]{0,30} online|besucher nr\.? ?\d|阅读(?:量|数)?[:：]? ?\d|浏览(?:量|次数)?[:：]? ?\d|\d+ ?(?:秒|分钟|小时|天)前$`)

func counter(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) <= maxStamp && counted.MatchString(text)
}

// Marks is the set of units that a text has, sorted. In JSON it is one string.
type Marks []uint64

// MarksOf returns the marks of all units of texts.
func MarksOf(texts ...string) Marks {
	var m Marks
	for _, text := range texts {
		for _, u := range Units(text) {
			m = append(m, u.Mark)
		}
	}
	slices.Sort(m)
	return slices.Compact(m)
}

// With returns the marks of both.
func (m Marks) With(o Marks) Marks {
	both := slices.Concat(m, o)
	slices.Sort(both)
	return slices.Compact(both)
}

// Has reports that a text with these marks has the unit.
func (m Marks) Has(u Unit) bool {
	_, found := slices.BinarySearch(m, u.Mark)
	return found
}

// Missing returns the units that a text with these marks does not have, stamps aside: also labels, which tell nothing by themselves.
func (m Marks) Missing(units []Unit) []Unit {
	return slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return u.Stamp || m.Has(u) })
}

// Fresh returns those of them that can be news.
func (m Marks) Fresh(units []Unit) []Unit {
	return slices.DeleteFunc(m.Missing(units), func(u Unit) bool { return !u.Tells })
}

// MarshalJSON writes the marks in base64, eight bytes each.
func (m Marks) MarshalJSON() ([]byte, error) {
	body := make([]byte, 0, 8*len(m))
	for _, mark := range m {
		body = binary.LittleEndian.AppendUint64(body, mark)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(body))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Marks) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("marks: %w", err)
	}
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(body)%8 != 0 {
		return fmt.Errorf("marks are not eight bytes each in base64 (%d characters)", len(text))
	}
	*m = make(Marks, 0, len(body)/8)
	for ; len(body) > 0; body = body[8:] {
		*m = append(*m, binary.LittleEndian.Uint64(body))
	}
	slices.Sort(*m)
	return nil
}
