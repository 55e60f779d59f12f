package firmstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kinds of pages of each firm.
const (
	Article   = "article"
	News      = "news"
	Products  = "products"
	Questions = "questions"
	Changelog = "changelog"
	Press     = "press"
	Forum     = "forum"
	Listing   = "listing"
	Live      = "live"
	About     = "about"
)

// Page is a page of a firm.
type Page struct {
	Kind    string
	Path    string
	OldPath string // former path, redirected by 301
	Title   string
	State   string   // "", 404, 410, 503, soft 404, login, wall, robots, empty, consent
	Lines   []string // content of additional pages
	Shuffle bool     // sections or rows are in another order
	version int
}

// modified returns the page's Last-Modified header.
func (p *Page) modified() string {
	return time.Date(2026, 2, 1+p.version, 8, 0, 0, 0, time.UTC).Format("Mon, 02 Jan 2006 15:04:05 GMT")
}

// Product is a row of the product table.
type Product struct{ Model, Price, Weight, Guarantee string }

// Release is an entry of the change log.
type Release struct {
	Version, Date string
	Items         []string
}

// Firm holds the facts about one firm. Pages are rendered from it, so changing a field changes every page that states
// it.
type Firm struct {
	Name  string // Varna Optics
	Pages []*Page

	History, Operations []string // of the article, by sentence
	NewsLines           []string
	Table               []Product
	Answers             [][2]string // questions and answers
	Releases            []Release
	PressLines          []string
	Posts               [][2]string // author and text
	Items               [][3]string // item, price, stock
	LiveLines           []string
	AboutLines          []string
	Sites               []string // list on the about page
	Services            []string
}

var (
	firsts = strings.Fields(`Varna Kessel Oland Tirana Bruges Madero Sligo Havant Jutland Corvo Ardmore Lugano Pesaro
		Quimper Rostock Setubal Umbria Vilnius Wexford Yarmouth Zadar Aveiro Bilbao Cadiz Dundee Evora Falmouth Gdansk
		Haarlem Imatra Kavala Limerick Mantua Narvik Orebro Padua Ravenna Segovia Tarbert Utrecht Viborg Warsaw Xanthi
		Ystad Zermatt Ancona Bergamo Chester Delft Elgin Fulda Genoa`)
	seconds = []string{"Optics", "Pumps", "Ferries", "Textiles", "Instruments"}
	towns   = strings.Fields("Ashby Colne Dorking Enfield Fareham Goole Hexham Ilkley Kendal Louth")
	people  = []string{"Ada Lind", "Boris Hale", "Clara Venn", "Dmitri Osk", "Edith Marr", "Felix Roth",
		"Greta Sand", "Hugo Pell"}
)

// newFirm creates firm i, with its own figures.
func newFirm(i int) *Firm {
	name := firsts[i] + " " + seconds[i%len(seconds)]
	code := strings.ToUpper(firsts[i][:2])
	town, other := towns[i%len(towns)], towns[(i+3)%len(towns)]
	chief, treasurer := people[i%len(people)], people[(i+3)%len(people)]
	n := func(base int) string { return fmt.Sprint(base + 13*i) }
	k := func(base int) string { v := base + 13*i; return fmt.Sprintf("%d,%03d", v/1000, v%1000) }
	f := &Firm{
		Name: name,
		History: []string{
			fmt.Sprintf("%s is a company in %s that was founded by two brothers in %s.", name, town, n(1901)),
			fmt.Sprintf("A fire destroyed its first workshop and %s drawings.", k(2100)),
			fmt.Sprintf("The archive of %s holds %s letters.", name, k(31000)),
		},
		Operations: []string{
			fmt.Sprintf("%s employs %s people.", name, k(4200)),
			fmt.Sprintf("The chief executive of %s is %s.", name, chief),
			fmt.Sprintf("Its main hall covers an area of %s square metres.", k(12400)),
			fmt.Sprintf("The test track of %s is 1.2 km long.", name),
			fmt.Sprintf("The laboratory of %s recieves samples from %s universities.", name, n(37)),
			fmt.Sprintf("The works of %s are open to visitors on Sundays.", name),
		},
		NewsLines: []string{
			fmt.Sprintf("%s will open its second plant in %s on 12 May 2026.", name, other),
			fmt.Sprintf("The plant will create %s jobs in the region, a speaker of the council said.", n(310)),
			fmt.Sprintf("The council of %s supports the plant of %s with a loan of %s thousand euros.", other, name, k(5600)),
		},
		Table: []Product{
			{code + "-10 Standard", "€" + n(240), n(800) + " g", "24 months"},
			{code + "-20 Compact", "€" + n(410), n(610) + " g", "24 months"},
			{code + "-30 Marine", "€" + n(1190), n(1450) + " g", "36 months"},
			{code + "-40 Workshop", "€" + n(2090), n(3900) + " g", "36 months"},
		},
		Answers: [][2]string{
			{"How long do repairs take?", fmt.Sprintf("Repairs at %s take %s working days on average.", name, n(11))},
			{"How long are spare parts kept?", fmt.Sprintf("%s keeps spare parts for %s months after the last sale.",
				name, n(120))},
			{"Where can I buy?", fmt.Sprintf("The products of %s are sold by %s dealers.", name, n(540))},
		},
		Releases: releases(name, n(340), n(14), k(20000)),
		PressLines: []string{
			fmt.Sprintf("%s today announced a revenue of %s million euros for 2025.", name, n(830)),
			fmt.Sprintf("Orders at the end of the year stood at %s million euros.", n(275)),
			fmt.Sprintf("“We are pleased with the result,” said %s, head of finance of %s.", treasurer, name),
			fmt.Sprintf("%s spent %s million euros on research.", name, n(61)),
		},
		Posts: [][2]string{
			{"stonecutter", fmt.Sprintf("I paid %s euros for a new seal at %s last month.", n(85), name)},
			{"lena77", fmt.Sprintf("The helpline of %s answered me after %s minutes.", name, n(17))},
			{"old_hand", fmt.Sprintf("Mine from %s has run for %s hours without a fault.", name, k(9000))},
		},
		Items: [][3]string{
			{name + " R1 refurbished", n(150), n(20)},
			{name + " R2 refurbished", n(275), n(41)},
			{name + " carrying case", n(35), n(220)},
		},
		LiveLines: []string{
			fmt.Sprintf("The plant of %s can make %s units a day.", name, k(7700)),
			fmt.Sprintf("%s uses %s cubic metres of water a week.", name, k(1600)),
		},
		AboutLines: []string{
			fmt.Sprintf("%s has paid a dividend of %s cents per share.", name, n(44)),
			fmt.Sprintf("The foundation of %s gives %s scholarships a year.", name, n(23)),
		},
		Services: []string{
			fmt.Sprintf("Calibration by %s within %s hours", name, n(48)),
			fmt.Sprintf("Rental from %s euros a week", n(75)),
		},
	}
	for place, site := range []string{"foundry with " + n(150) + " workers", "warehouse with " + k(6100) + " pallets",
		"training centre with " + n(90) + " seats"} {
		f.Sites = append(f.Sites, towns[(i+place)%len(towns)]+": "+site)
	}
	for _, kind := range []string{Article, News, Products, Questions, Changelog, Press, Forum, Listing, Live, About} {
		f.Pages = append(f.Pages, &Page{Kind: kind, Path: kind, Title: fmt.Sprintf(titles[kind], name)})
	}
	return f
}

func releases(name, milliseconds, sensors, measurements string) []Release {
	return []Release{
		{"4.2", "12 January 2026", []string{fmt.Sprintf("The firmware of %s starts in %s milliseconds.", name, milliseconds),
			"Fixes a crash when the battery is removed."}},
		{"4.1", "3 November 2025", []string{fmt.Sprintf("Adds support for %s further sensors of %s.", sensors, name),
			"New translations."}},
		{"4.0", "20 June 2025", []string{fmt.Sprintf("%s now stores %s measurements on the device.", name, measurements)}},
	}
}

var titles = map[string]string{
	Article: "%s - The Free Compendium", News: "%s plans a second plant | Daily Courier",
	Products: "Products and prices of %s", Questions: "%s: questions and answers",
	Changelog: "Change log of the firmware of %s", Press: "%s reports on the year 2025",
	Forum:   "Experience with %s? - Workshop forum",
	Listing: "Stock of %s", Live: "%s: status of the plant", About: "About %s",
}

func (f *Firm) slug() string { return strings.ToLower(strings.ReplaceAll(f.Name, " ", "-")) }

// Page returns the page of a kind, or nil.
func (f *Firm) Page(kind string) *Page {
	i := slices.IndexFunc(f.Pages, func(p *Page) bool { return p.Kind == kind })
	if i < 0 {
		return nil
	}
	return f.Pages[i]
}

// add adds a news page.
func (f *Firm) add(path, title string, lines ...string) {
	f.Pages = append(f.Pages, &Page{Kind: path, Path: path, Title: title, Lines: lines})
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}
