package loosejson_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/tools/loosejson"
)

func TestValue(t *testing.T) {
	t.Parallel()
	v, err := loosejson.Parse([]byte("\ufeff " + `{"a":{"b":"text","n":7.0,"yes":true,"list":["x",1,"y"]},"items":[{"n":1},3],"odd":[3],"empty":[],"null":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if v.Text("a.b") != "text" || v.Text("a.list") != "x" || v.Text("a.n") != "" || v.Text("a.b.c") != "" || v.Text("none.b") != "" {
		t.Error("texts")
	}
	if v.Number("a.n") != 7 || v.Number("a.b") != 0 || !v.Is("a.yes") || v.Is("a.n") || v.Has("null") || !v.Has("a") {
		t.Error("numbers, truth, existence")
	}
	if got := v.Texts("a.list"); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("%q", got)
	}
	if got := v.Object("a"); len(got) != 4 || got["b"].Text("") != "text" {
		t.Errorf("%v", got)
	}
	if items, err := v.Items("items"); err != nil || len(items) != 1 || items[0].Number("n") != 1 {
		t.Errorf("%v, %v", items, err)
	}
	if items, err := v.Items("empty"); err != nil || len(items) != 0 {
		t.Errorf("%v, %v", items, err)
	}
	for _, path := range []string{"odd", "none", "a.b", "null"} {
		if _, err := v.Items(path); err == nil {
			t.Errorf("%s is a list of objects", path)
		}
	}
	for _, body := range []string{"", "<html>", "[]", "null", `{"a":`, "7"} {
		if _, err := loosejson.Parse([]byte(body)); err == nil {
			t.Errorf("%q is an object", body)
		}
	}
}
