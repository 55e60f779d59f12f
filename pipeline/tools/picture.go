package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // decoded
	_ "image/jpeg" // decoded
	"image/png"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decoded

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Picture is a picture that a page shows, in the section whose text is Source.Text[Start:End].
type Picture struct {
	URL     string
	Caption string // what the page says of it, one line
	Licence string `json:",omitempty"`
	Start   int
	End     int
}

// Limits of pictures.
const (
	maxPictures     = 12               // that are known of a page
	shownPictures   = 2                // that are fetched of a page
	maxPictureBytes = 8 << 20          // as sent
	maxPixels       = 8_000_000        // of one that is decoded, which takes 100 MB at worst
	minSide         = 100              // pixels; what is smaller is a button, a line or a counter of visitors
	shownSide       = 1000             // pixels; larger ones are made smaller
	pictureTime     = 10 * time.Second // that one of them takes
)

// picturesOf returns the pictures of a page. starts: where its sections begin in its text, which has size bytes.
func picturesOf(images []extract.Image, starts []int, size int, address *url.URL) (list []Picture) {
	for _, i := range images {
		if starts[i.Section] >= size || len(list) == maxPictures { // behind what is kept of the text
			break
		}
		base := address
		if b, err := address.Parse(i.Base); err == nil {
			base = b
		}
		u, err := base.Parse(i.Source)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		u.User, u.Fragment = nil, ""
		p := Picture{URL: u.String(), Caption: i.Caption, Licence: i.Licence, Start: starts[i.Section], End: size}
		if i.Section+1 < len(starts) {
			p.End = min(size, starts[i.Section+1])
		}
		list = append(list, p)
	}
	return list
}

// Picturer is a Tool that can fetch what Result.Pictures names.
type Picturer interface {
	// Picture returns a picture as PNG. The error says why there is none.
	Picture(ctx context.Context, address string) ([]byte, error)
}

// Picture implements Picturer: what comes is decoded and encoded again, so that it is a picture and nothing else.
func (t openPage) Picture(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	response, err := t.outside.Do(ctx, fetch.Request{URL: address, Robots: true, MaxBytes: maxPictureBytes,
		Accept: []string{"image/png", "image/jpeg", "image/webp", "image/gif"}})
	if err != nil {
		return nil, err
	}
	select { // as pages, for the memory
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-t.reading }()
	return asPNG(response.Body)
}

// asPNG returns a picture as PNG of at most shownSide pixels a side.
func asPNG(body []byte) (out []byte, err error) {
	defer func() { // decoders read what anybody has written
		if r := recover(); r != nil {
			err = fmt.Errorf("decode the picture: %v", r)
		}
	}()
	size, _, err := image.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is no picture: %w", err)
	case size.Width < minSide || size.Height < minSide:
		return nil, fmt.Errorf("it is too small: %d x %d pixels", size.Width, size.Height)
	case size.Width > maxPixels/size.Height:
		return nil, fmt.Errorf("it is too large: %d x %d pixels", size.Width, size.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("it is no whole picture: %w", err)
	}
	if longer := max(size.Width, size.Height); longer > shownSide {
		small := image.NewNRGBA(image.Rect(0, 0, max(1, size.Width*shownSide/longer), max(1, size.Height*shownSide/longer)))
		draw.ApproxBiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
		picture = small
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	return b.Bytes(), nil
}

// Illustrate gives the source of a trace the pictures of its page that stand in the section of one of its claims, and
// stores them in the run's bundle. One that cannot be had is left out. What an earlier attempt has fetched is not
// fetched again. The error is that of Once, of Pages, or context.Cause(ctx).
func (r *Runner) Illustrate(ctx context.Context, runID string, pictures []Picture, t *topicqueue.ToolTrace) error {
	tool, _ := r.Tools.Lookup(t.ToolType)
	fetcher, ok := tool.(Picturer)
	if !ok {
		return nil
	}
	for _, p := range pictures {
		figure := topicqueue.Figure{Title: p.title(), URL: p.URL, Licence: p.Licence, Start: p.Start, End: p.End}
		if !slices.ContainsFunc(t.Claims, figure.BesideClaim) {
			continue
		}
		path, err := r.fetchPicture(ctx, runID, t.ToolID, p, fetcher)
		if err != nil {
			return err
		}
		if path == "" {
			continue
		}
		figure.Path = path
		t.Source.Figures = append(t.Source.Figures, figure)
		if len(t.Source.Figures) == shownPictures {
			break
		}
	}
	return nil
}

// title is the caption of a picture, with its site and licence.
func (p Picture) title() string {
	from := []string{siteOf(p.URL)}
	if p.Licence != "" {
		from = append(from, licenceName(p.Licence))
	}
	return topicqueue.OneLine(p.Caption) + " (" + strings.Join(from, "; ") + ")"
}

func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// licenceName shows a licence that is an address without what makes it a link, and one of Creative Commons by its name.
func licenceName(licence string) string {
	u, err := url.Parse(licence)
	if err != nil || u.Host == "" {
		return topicqueue.OneLine(licence)
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if siteOf(licence) == "creativecommons.org" && len(parts) >= 3 && parts[0] == "licenses" {
		return "CC " + strings.ToUpper(parts[1]) + " " + parts[2]
	}
	return siteOf(licence) + u.Path
}

// fetchPicture fetches and stores a picture, and returns its path in the bundle; empty: it cannot be had.
func (r *Runner) fetchPicture(ctx context.Context, runID, toolID string, p Picture, from Picturer) (string, error) {
	fetchOnce := func(ctx context.Context) ([]byte, bool, error) {
		path := ""
		body, err := from.Picture(ctx, p.URL)
		switch {
		case ctx.Err() != nil:
			return nil, false, context.Cause(ctx)
		case err != nil:
			zerolog.Ctx(ctx).Debug().Err(err).Str("picture", fetch.Redact(p.URL)).Msg("picture was not fetched")
		default:
			sum := sha256.Sum256(body)
			path = figuresDir + hex.EncodeToString(sum[:]) + ".png"
			if err := r.storeFigures(ctx, runID, []Figure{{topicqueue.Figure{Path: path}, body}}); err != nil {
				return nil, false, err
			}
		}
		value, err := json.Marshal(path)
		return value, true, err
	}
	var value []byte
	var err error
	if r.Once == nil {
		value, _, err = fetchOnce(ctx)
	} else {
		value, err = r.Once(ctx, "picture/"+toolID+"/"+topicqueue.TextHash(p.URL)[:20], fetchOnce)
	}
	if err != nil {
		return "", err
	}
	path := ""
	if err := json.Unmarshal(value, &path); err != nil {
		return "", fmt.Errorf("decode the journal of %s: %w", toolID, err)
	}
	return path, nil
}
