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

// Picture is a picture on a page, in the section whose text is Source.Text[Start:End].
type Picture struct {
	URL     string
	Caption string // from the page, one line
	Licence string `json:",omitempty"`
	Start   int
	End     int
}

// Limits of pictures.
const (
	maxPictures     = 12               // recorded per page
	shownPictures   = 2                // fetched per page
	maxPictureBytes = 8 << 20          // size as sent
	maxPixels       = 8_000_000        // of a decoded picture, which takes at most 100 MB
	minSide         = 100              // pixels; smaller pictures are buttons, rules or visitor counters
	shownSide       = 1000             // pixels; larger pictures are scaled down
	pictureTime     = 10 * time.Second // time limit for one picture
)

// picturesOf returns the pictures of a page. starts: offsets of the sections in the page's text, which has size bytes.
func picturesOf(images []extract.Image, starts []int, size int, address *url.URL) (list []Picture) {
	for _, i := range images {
		if starts[i.Section] >= size || len(list) == maxPictures { // after the kept part of the text
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

// Picturer is a Tool that can fetch the pictures in Result.Pictures.
type Picturer interface {
	// Picture returns a picture as PNG. The error says why it is not available.
	Picture(ctx context.Context, address string) ([]byte, error)
}

// Picture implements Picturer. It decodes the response and encodes it again, so that the result contains only a
// picture.
func (t openPage) Picture(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	response, err := t.outside.Do(ctx, fetch.Request{URL: address, Robots: true, MaxBytes: maxPictureBytes,
		Accept: []string{"image/png", "image/jpeg", "image/webp", "image/gif"}})
	if err != nil {
		return nil, err
	}
	select { // limits memory, as for pages
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-t.reading }()
	return asPNG(response.Body)
}

// asPNG converts a picture to a PNG with sides of at most shownSide pixels.
func asPNG(body []byte) (out []byte, err error) {
	defer func() { // decoders read untrusted input
		if r := recover(); r != nil {
			err = fmt.Errorf("decode the picture: %v", r)
		}
	}()
	size, _, err := image.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return nil, fmt.Errorf("not an image: %w", err)
	case size.Width < minSide || size.Height < minSide:
		return nil, fmt.Errorf("image too small: %d x %d pixels", size.Width, size.Height)
	case size.Width > maxPixels/size.Height:
		return nil, fmt.Errorf("image too large: %d x %d pixels", size.Width, size.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("truncated image: %w", err)
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

// Illustrate adds pictures to the source of a trace and stores them in the run's bundle. It uses pictures of the
// source's page that are in the section of one of the trace's claims, and leaves out unavailable ones. Pictures that an
// earlier attempt fetched are not fetched again. The error is that of Once, of Pages, or context.Cause(ctx).
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

// title returns the caption of a picture, with its site and licence.
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

// licenceName returns the display name of a licence. A Creative Commons address becomes the licence's name; other
// addresses lose their scheme.
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

// fetchPicture fetches and stores a picture, and returns its path in the bundle, or "" if it is not available.
func (r *Runner) fetchPicture(ctx context.Context, runID, toolID string, p Picture, from Picturer) (string, error) {
	fetchOnce := func(ctx context.Context) ([]byte, bool, error) {
		path := ""
		body, err := from.Picture(ctx, p.URL)
		switch {
		case ctx.Err() != nil:
			return nil, false, context.Cause(ctx)
		case err != nil:
			zerolog.Ctx(ctx).Debug().Err(err).Str("picture", fetch.Redact(p.URL)).Msg("picture not fetched")
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
