package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/topicqueue"
)

// maxFile is the maximum size of a file, in bytes.
const maxFile = 20 << 20

// source is a file or web page that may become a document. For a page, only key and address are known before the
// download.
type source struct {
	key      string // slash-separated, unique within the base
	file     string // path; empty for a page
	address  string // address of a page, possibly with user and password
	name     string // file name whose extension gives the type
	size     int64  // bytes
	modified time.Time

	contentType string // header of a page
}

// leftOut lists directories without documents of the user: version control, dependencies and caches. Hidden directories
// are always skipped.
var leftOut = map[string]bool{
	"node_modules": true, "vendor": true, "bower_components": true, "__pycache__": true, "venv": true, "CVS": true,
	"site-packages": true, "__MACOSX": true,
}

// sphinxOwn lists directories next to Sphinx pages that hold the sources, styles and images of the pages.
var sphinxOwn = map[string]bool{"_static": true, "_sources": true, "_images": true, "_downloads": true,
	"_modules": true}

// furnishings lists extensions of files that are skipped silently: styles, scripts, images and fonts.
var furnishings = map[string]bool{
	".css": true, ".js": true, ".mjs": true, ".map": true, ".png": true, ".jpg": true, ".jpeg": true,
	".gif": true, ".svg": true,
	".ico": true, ".webp": true, ".woff": true, ".woff2": true, ".ttf": true, ".eot": true, ".otf": true, ".inv": true,
}

// walk lists the files below roots in a fixed order. skipped lists files that cannot become documents, and unread the
// key prefixes of entries that could not be read. A root that cannot be read is an error.
func walk(ctx context.Context, roots []string) (files []source, skipped []Skipped, unread []string, err error) {
	if len(roots) == 0 {
		return nil, nil, nil, errors.New("ingest: no directory or file was named")
	}
	w := walker{seen: map[string]bool{}}
	prefixes := map[string]bool{}
	for _, root := range roots {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("ingest: %w", err)
		}
		if real, err = filepath.Abs(real); err != nil {
			return nil, nil, nil, fmt.Errorf("ingest: %w", err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("ingest: %w", err)
		}
		prefix := ""
		if len(roots) > 1 || !info.IsDir() {
			prefix = unique(filepath.Base(real), prefixes)
		}
		switch {
		case info.IsDir():
			if err := w.directory(ctx, real, prefix); err != nil {
				return nil, nil, nil, err
			}
		case info.Mode().IsRegular():
			w.add(real, prefix, info)
		default:
			return nil, nil, nil, fmt.Errorf("ingest: %s is neither a directory nor a file", root)
		}
	}
	slices.SortFunc(w.files, func(a, b source) int { return strings.Compare(a.key, b.key) })
	return w.files, w.skipped, w.unread, nil
}

// unique returns name, or name with a number before its extension if it is taken.
func unique(name string, taken map[string]bool) string {
	ext := path.Ext(name)
	out := name
	for n := 2; taken[out]; n++ {
		out = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
	}
	taken[out] = true
	return out
}

type walker struct {
	files   []source
	skipped []Skipped
	unread  []string
	seen    map[string]bool // absolute paths, because roots may overlap
}

func (w *walker) skip(key, reason string) {
	w.skipped = append(w.skipped, Skipped{Document: key, Reason: reason})
}

func (w *walker) directory(ctx context.Context, root, prefix string) error {
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, relErr := filepath.Rel(root, file)
		if relErr != nil {
			return fmt.Errorf("ingest %s: %w", file, relErr)
		}
		key := path.Join(prefix, filepath.ToSlash(rel))
		if err != nil { // for a subdirectory or the root itself
			if file == root {
				return fmt.Errorf("ingest: %w", err)
			}
			w.skip(key, "unreadable: "+reason(err))
			w.unread = append(w.unread, key)
			return fs.SkipDir
		}
		if file == root {
			return nil
		}
		name := entry.Name()
		tool := entry.IsDir() && (leftOut[name] || sphinxOwn[name] && isSphinx(filepath.Dir(file)))
		if strings.HasPrefix(name, ".") || tool {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			// A link to a target inside the root is another name for a document that is found anyway.
			if target, err := filepath.EvalSymlinks(file); err != nil || !inside(root, target) {
				w.skip(key, "symbolic link to outside of "+filepath.Base(root))
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			w.skip(key, "unreadable: "+reason(err))
			w.unread = append(w.unread, key)
			return nil
		}
		w.add(file, key, info)
		return nil
	})
}

// add adds a file to the list or records why it is skipped.
func (w *walker) add(file, key string, info fs.FileInfo) {
	_, known := extract.TypeOf(info.Name())
	switch {
	case w.seen[file] || furnishings[strings.ToLower(filepath.Ext(file))] || !info.Mode().IsRegular():
		return
	case !utf8.ValidString(key):
		w.skip(strings.ToValidUTF8(key, "\ufffd"), "the file's name is not UTF-8")
	case !known:
		w.skip(key, "unknown type of file")
	case info.Size() > maxFile:
		w.skip(key, fmt.Sprintf("too large: %d MB, at most %d MB are read", info.Size()>>20, maxFile>>20))
	default:
		key = strings.ReplaceAll(topicqueue.Printable(key), "\n", " ")
		w.files = append(w.files, source{key: key, file: file, name: info.Name(), size: info.Size(),
			modified: info.ModTime()})
	}
	w.seen[file] = true
}

func isSphinx(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "searchindex.js"))
	return err == nil
}

func inside(root, file string) bool {
	rel, err := filepath.Rel(root, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// reason returns the message of err without the path, because reports already show the path.
func reason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}
