package sources

import (
	"net/url"
	"regexp"
	"strings"

	"nightdesk/topicqueue"
)

// Page is the metadata that a page provides for search engines. Every field may be empty.
type Page struct {
	Type   string // og:type: article, product, video.other
	Schema string // @type of its linked data: NewsArticle, BlogPosting
	Paper  bool   // has citation_* elements, as pages of papers do for Google Scholar
}

// genre determines the genre of a source, using the most reliable evidence first: the tool that found it, a known host,
// the page's metadata, host name, top-level domain, path and DOI.
func genre(s topicqueue.Source, about Page) string {
	host := hostOf(s.URL)
	if s.Kind == topicqueue.SourceCode {
		return topicqueue.GenreUnknown
	}
	path := "/"
	if u, err := url.Parse(strings.TrimSpace(s.URL)); err == nil && host != "" {
		path = strings.ToLower(u.EscapedPath())
		if u.RawQuery != "" {
			path += "?" + strings.ToLower(u.RawQuery)
		}
	}
	known := byHost(host, path)
	if s.Kind == topicqueue.SourcePaper {
		if known == topicqueue.GenrePreprint || preprintServer.MatchString(s.Publisher) {
			return topicqueue.GenrePreprint
		}
		return topicqueue.GenrePaper
	}
	for _, decide := range []func() string{
		func() string { return known },
		func() string { return byPage(about) },
		func() string { return byHostName(host) },
		func() string { return byTopLevel(host) },
		func() string { return byPath(host, path) },
	} {
		if g := decide(); g != "" {
			return g
		}
	}
	switch {
	case s.DOI != "":
		return topicqueue.GenrePaper
	case strings.HasSuffix(host, ".org"):
		return topicqueue.GenreOrganisation
	}
	return topicqueue.GenreUnknown
}

var preprintServer = regexp.MustCompile(`(?i)\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|research square|` +
	`preprints?(?:\.org)?|osf preprints)\b`)

// byHost looks up the host, then its parent domains. Longer listed paths take precedence.
func byHost(host, path string) string {
	for host != "" {
		for _, h := range hosts[host] {
			if strings.HasPrefix(path, h.path) {
				return h.genre
			}
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return ""
}

// byPage uses only unambiguous metadata of a page.
func byPage(p Page) string {
	if p.Paper {
		return topicqueue.GenrePaper
	}
	if g := schemas[strings.ToLower(p.Schema)]; g != "" {
		return g
	}
	switch kind := strings.ToLower(p.Type); {
	case kind == "product" || strings.HasPrefix(kind, "product."):
		return topicqueue.GenreShop
	case strings.HasPrefix(kind, "video"):
		return topicqueue.GenreVideo
	}
	return ""
}

// schemas maps schema.org types, in lower case, to genres.
var schemas = genreOf(`
news: newsarticle reportagenewsarticle analysisnewsarticle opinionnewsarticle liveblogposting
blog: blogposting blog
documentation: techarticle apireference
paper: scholarlyarticle medicalscholarlyarticle
dataset: dataset datacatalog
forum: qapage discussionforumposting
shop: product productgroup
repository: softwaresourcecode
social: socialmediaposting
video: videoobject
reference: definedterm
`)

// hostNames maps first labels of hosts, such as docs in docs.example.com, to genres.
var hostNames = genreOf(`
documentation: docs doc documentation developer developers dev manual manuals man api help support kb learn
reference: wiki dictionary
forum: forum forums discuss discourse community lists answers
blog: blog blogs engineering
news: news
shop: shop store
dataset: data opendata datasets
repository: git gitlab
video: video videos
`)

func byHostName(host string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(host, "www."), ".")
	if !strings.Contains(rest, ".") { // in docs.rs, docs is not a subdomain
		return ""
	}
	if g := hostNames[first]; g != "" && byTopLevel(host) != topicqueue.GenreGovernment || g == topicqueue.GenreDataset {
		return g
	}
	return ""
}

// Top-level domains reserved for governments and for other organisations.
var (
	governmentHost = regexp.MustCompile(`(?:^|\.)(?:gov|mil|europa\.eu|` +
		`(?:gov|gob|gouv|go|govt|gub|mil|gc|admin|gv|bund|government)\.[a-z]{2})$`)
	bodyHost = regexp.MustCompile(`(?:^|\.)(?:edu|int|museum|(?:edu|ac|org)\.[a-z]{2})$`)
)

func byTopLevel(host string) string {
	switch {
	case governmentHost.MatchString(host):
		return topicqueue.GenreGovernment
	case bodyHost.MatchString(host):
		return topicqueue.GenreOrganisation
	}
	return ""
}

// paths maps URL paths to genres. The first match is used.
var paths = []struct {
	pattern *regexp.Regexp
	genre   string
}{
	{regexp.MustCompile(`/doi/(?:abs/|full/|pdf/|epdf/)?10\.\d{4,}/`), topicqueue.GenrePaper},
	{regexp.MustCompile(`^/(?:[a-z]{2}(?:[-_][a-z]{2})?/)?(?:docs?|documentation|manual|handbook|api-?docs?|javadoc|` +
		`developers?|guides?|reference)(?:/|$)|/(?:docs|documentation|manual|api-reference)/`),
		topicqueue.GenreDocumentation},
	{regexp.MustCompile(`^/(?:forums?|community|discussions?|questions?|threads?|boards?)/|` +
		`/(?:viewtopic|showthread|viewthread)\b|^/t/[^/]+/\d+`), topicqueue.GenreForum},
	{regexp.MustCompile(`^/(?:[a-z]{2}(?:[-_][a-z]{2})?/)?(?:blogs?|posts?)(?:/|$)|/blogs?/`), topicqueue.GenreBlog},
	{regexp.MustCompile(`^/(?:[a-z]{2}(?:[-_][a-z]{2})?/)?(?:news|newsroom|press|press-releases?|media-center)(?:/|$)`),
		topicqueue.GenreNews},
	{regexp.MustCompile(`^/(?:[a-z]{2}/)?wiki/`), topicqueue.GenreReference},
	{regexp.MustCompile(`^/(?:[a-z]{2}(?:[-_][a-z]{2})?/)?(?:shop|store|cart)/|/dp/[a-z0-9]{10}`), topicqueue.GenreShop},
	{regexp.MustCompile(`^/(?:data|datasets?|data-catalog)/|\.(?:csv|xlsx|parquet)$`), topicqueue.GenreDataset},
	{regexp.MustCompile(`^/(?:watch|videos?)(?:/|\?|$)`), topicqueue.GenreVideo},
	// date paths as in blogs; journals with such paths are listed as hosts
	{regexp.MustCompile(`^/(?:19|20)\d\d/(?:0[1-9]|1[0-2])/`), topicqueue.GenreBlog},
}

func byPath(host, path string) string {
	if host == "" {
		return ""
	}
	for _, p := range paths {
		if p.pattern.MatchString(path) {
			return p.genre
		}
	}
	return ""
}
