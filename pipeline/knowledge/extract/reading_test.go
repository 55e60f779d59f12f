package extract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/text/encoding/htmlindex"

	"nightdesk/pipeline/knowledge/extract"
)

// What the eye sees reaches the text, whatever the format: raised and struck text, formulas, tables, what is hidden,
// and the head of a document.
func TestReading(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"open", "closed"} {
		archive, err := txtar.ParseFile("testdata/reading/" + set + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range statedFiles(archive) {
			t.Run(set+"/"+name, func(t *testing.T) {
				t.Parallel()
				doc, err := extract.File(t.Context(), name, data.content)
				if err != nil {
					t.Fatal(err)
				}
				check(t, doc)
				by := strings.Trim(strings.Join(doc.Authors, ", ")+", "+doc.Publisher, ", ")
				for line := range strings.Lines(data.want) {
					line = strings.TrimSuffix(line, "\n")
					key, value, _ := strings.Cut(line, "=")
					got, stated := map[string]string{"title": doc.Title, "by": by, "date": doc.Date}[key]
					switch {
					case stated && got != value:
						t.Errorf("%s is %q, want %q", key, got, value)
					case !stated && strings.Contains(doc.Text, line[1:]) != (line[0] == '+'):
						t.Errorf("%s in:\n%s", line, doc.Text)
					}
				}
			})
		}
	}
}

// The encoding of a file is its mark, what the header or the page declares, or a clear guess, and never a wrong one.
func TestCharsets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ charset, text string }{
		{"gbk", "码头在南边，渡轮票价为九元，每天开四十班。夜间服务从二十二点开始运行。"},
		{"gbk", "渡轮票价为九元，每天四十班。"},
		{"gb18030", "港口管理局发布的年度报告指出，吞吐量同比增长百分之十二，㐂字较少见。"},
		{"gbk", "公司章程规定，董事会每年至少召开两次会议，会议记录由秘书保存。"},
		{"big5", "碼頭在南邊，渡輪票價為九元，每天開四十班。夜間服務從二十二點開始。"},
		{"shift_jis", "樫の円フェリーの料金は九百円で、一日に四十便があります。港は朝八時に開きます。"},
		{"shift_jis", "会社の規則によると、取締役会は年に二回開かれ、議事録は秘書が保管する。"},
		{"euc-jp", "フェリーの料金は九百円で、一日に四十便があります。港は朝八時に開きます。"},
		{"euc-kr", "여객선 요금은 구천 원이며 하루에 마흔 번 운항합니다. 항구는 아침 여덟 시에 문을 엽니다."},
		{"euc-kr", "이사회는 일 년에 두 번 열리며 회의록은 비서가 보관한다."},
		{"windows-1251", "Паром Дубовый стоит девять рублей, и в день ходит сорок рейсов."},
		{"windows-1251", "Совет собирается дважды в год, протокол хранит секретарь."},
		{"koi8-r", "Паром Дубовый стоит девять рублей, и в день ходит сорок рейсов."},
		{"koi8-r", "Совет собирается дважды в год, протокол хранит секретарь."},
		{"windows-1253", "Το πλοίο κοστίζει εννέα ευρώ και το λιμάνι ανοίγει στις οκτώ το πρωί."},
		{"windows-1252", "Die Küche ist groß, das Café kleiner, und die Brücke über den Fluß ist schön."},
		{"iso-8859-2", "Zażółć gęślą jaźń; port jest otwarty od ósmej, a prom płynie czterdzieści razy."},
	} {
		enc, err := htmlindex.Get(tc.charset)
		if err != nil {
			t.Fatal(err)
		}
		data, err := enc.NewEncoder().String(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		cell, _, _ := strings.Cut(tc.text, ",")
		cellData, _ := enc.NewEncoder().String(cell)
		for name, form := range map[string]struct {
			kind          extract.Type
			data, header  string
			want          string
			mayBeRejected bool
		}{
			"text":             {extract.TypeText, data, "", tc.text, tc.charset == "iso-8859-2"},
			"page":             {extract.TypeHTML, "<html><body><p>" + data + "</p></body></html>", "", tc.text, tc.charset == "iso-8859-2"},
			"table":            {extract.TypeCSV, "a;b\n1;" + cellData + "\n2;" + cellData + "\n", "", cell, true},
			"text with header": {extract.TypeText, data, "text/plain; charset=" + tc.charset, tc.text, false},
			"page with header": {extract.TypeHTML, "<p>" + data, "text/html; charset=" + tc.charset, tc.text, false},
			"page with meta":   {extract.TypeHTML, "<meta charset=" + tc.charset + "><p>" + data, "", tc.text, false},
			"page with wrong header": {extract.TypeHTML, "<p>" + data, "text/html; charset=iso-8859-1", tc.text,
				false},
		} {
			if tc.charset == "iso-8859-2" && name == "page with wrong header" { // which no detector finds out
				continue
			}
			doc, err := extract.Bytes(t.Context(), form.kind, []byte(form.data), form.header)
			if err != nil && form.mayBeRejected && errors.Is(err, extract.ErrEncoding) {
				continue
			}
			if err != nil || !strings.Contains(doc.Text, form.want) {
				t.Errorf("%s, %s: %v, %q, want %q", tc.charset, name, err, doc.Text, form.want)
			}
		}
	}
}

// What a server sends is read in one way, whether it is opened or downloaded.
func TestSent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, header, data, name, text string
		err                            error
	}{
		{"/gbk", "text/html; charset=GBK", "<p>\xcd\xf8\xd2\xb3\xcf\xf0\xca\xf7", "gbk.html", "网页橡树", nil},
		{"/a/b.csv", "text/plain", "a;b\n1;2\n", "b.csv", "| 1 | 2 |", nil},
		{"/", "", "<!DOCTYPE html><p>words", "/.html", "words", nil},
		{"/notes", "text/plain", "<html><p>words", "notes.html", "words", nil},
		{"/v1.5", "text/html", "<p>words", "v1.html", "words", nil},
		{"/go", "text/html", `<meta http-equiv="Refresh" content="0; URL='/pier/new'"><p>Redirecting`, "go.html", "",
			extract.ErrForwards},
		{"/go", "text/html", `<meta http-equiv=refresh content="900"><p>The tides`, "go.html", "The tides", nil},
		{"/x.zip", "application/zip", "PK", "x.zip", "", extract.ErrType},
	} {
		name := extract.SentName(tc.path, tc.header, []byte(tc.data))
		doc, err := extract.Sent(t.Context(), name, tc.header, []byte(tc.data))
		if name != tc.name || !errors.Is(err, tc.err) || !strings.Contains(doc.Text, tc.text) {
			t.Errorf("%s, %s: %s, %v, %q", tc.path, tc.header, name, err, doc.Text)
		}
	}
}
