package benchtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Size of a page in bytes of text.
const (
	leastPage = 3_000
	mostPage  = 30_000
)

// forms are sentence templates. Most of them state facts with figures; the last ones are filler.
var forms = []string{
	"In {year} the {part} of {harbour} handled {amount} tonnes of {goods}, more than in any year before.",
	"The authority of {harbour} spent {amount} euros on the {part} and their approaches in {year}.",
	"According to the survey of {year}, the {part} were closed to {goods} for {number} hours because of wind and fog.",
	"Since {year} a crew of {number} has maintained the {part}, which stand beside the sheds for {goods}.",
	"An engineer of {harbour} counted {amount} cracks in the foundations under the {part} before {year}.",
	"Ships that carry {goods} pay a fee of {number} euros for the use of the {part} at {harbour}.",
	"The {part} were rebuilt in {year} after a storm, with {amount} blocks of granite from the northern quarry.",
	"Insurers valued the damage to the {part} and to stored {goods} at {amount} euros.",
	"Visitors reach the {part} by the road along the water and are asked to report at the gate.",
	"Those who work there speak of long evenings, cold mornings and the smell of tar in the old sheds.",
	"Much of this is described in letters of the harbour master, which the town keeps in its archive.",
	"Whether the plan is carried out depends on the council, whose members have not agreed so far.",
}

var goods = []string{"timber", "grain", "coffee", "cement", "machinery", "salt", "copper", "fruit", "paper", "cotton",
	"fertiliser", "steel", "wine", "fish", "oil", "coal"}

// pageText returns page n, always the same for the same arguments, in paragraphs separated by blank lines.
func pageText(n uint64, words string) (title, text string) {
	r := rand.New(rand.NewPCG(n, 1))
	name := fmt.Sprintf("harbour %c%d", 'A'+rune(r.IntN(26)), r.IntN(900)+100)
	if words == "" {
		words = Subjects[r.IntN(len(Subjects))]
	}
	size := leastPage + r.IntN(mostPage-leastPage)
	var b strings.Builder
	for sentences := 0; b.Len() < size; sentences++ {
		switch {
		case sentences == 0:
		case sentences%5 == 0:
			b.WriteString("\n\n")
		default:
			b.WriteByte(' ')
		}
		subject := words
		if sentences%3 > 0 {
			subject = Subjects[r.IntN(len(Subjects))]
		}
		form := forms[r.IntN(len(forms))]
		b.WriteString(strings.NewReplacer("{part}", subject, "{harbour}", name, "{goods}", goods[r.IntN(len(goods))],
			"{year}", strconv.Itoa(1900+r.IntN(125)), "{amount}", strconv.Itoa(10_000+r.IntN(980_000)),
			"{number}", strconv.Itoa(100+r.IntN(900))).Replace(form))
	}
	return "The " + words + " of " + name, b.String()
}

func hashOf(text string, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(text), uint64(n))) // never fails
	return h.Sum64()
}

// excerptLength is a typical length of an excerpt in search results.
const excerptLength = 300

// found answers a search as SearXNG does, with eight pages that no other query finds.
func found(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("format") != "json" {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	query := r.FormValue("q")
	results := []object{}
	for i := range 8 {
		n := hashOf(query, i)
		title, text := pageText(n, "")
		shown := text[:strings.LastIndexByte(text[:excerptLength], '.')+1]
		results = append(results, object{"url": fmt.Sprintf("http://%s/page/%016x", r.Host, n), "title": title,
			"content": shown + " ...", "engine": "bench", "score": 8 - i, "category": "general"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"query": query, "results": results, "answers": []string{}, // best effort
		"corrections": []string{}, "infoboxes": []string{}, "suggestions": []string{}, "unresponsive_engines": []any{}})
}

// page serves one page of the web.
func page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/page/"), 16, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	title, text := pageText(n, "")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><html lang=en><title>%s</title><nav><a href=/>Home</a> <a href=/about>About</a></nav>"+
		"<main><article><h1>%[1]s</h1><p>%s</p></article></main></html>", html.EscapeString(title),
		strings.ReplaceAll(html.EscapeString(text), "\n\n", "</p>\n<p>"))
}

// writePages writes a number of pages as documents to a directory.
func writePages(dir string, pages int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range pages {
		title, text := pageText(uint64(i), Subjects[i%len(Subjects)])
		doc := "# " + title + "\n\n" + text + "\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("page%05d.md", i)), []byte(doc), 0o600); err != nil {
			return err
		}
	}
	return nil
}
