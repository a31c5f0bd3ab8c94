// Renders a chart as Helm does: the same templates, functions and defaults, without a cluster.
// Reads { "chart": folder, "values": {} } from standard input and writes { template: text } to standard output.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type values = map[string]any

func main() {
	var order struct {
		Chart  string
		Values values
	}
	must(json.NewDecoder(os.Stdin).Decode(&order))
	chart, given := values{}, values{}
	readYaml(filepath.Join(order.Chart, "Chart.yaml"), &chart)
	readYaml(filepath.Join(order.Chart, "values.yaml"), &given)
	scope := values{
		"Values":  merge(given, order.Values),
		"Chart":   capitalised(chart),
		"Release": values{"Name": "example", "Namespace": "default", "Service": "Helm", "IsInstall": true, "Revision": 1},
	}
	must(json.NewEncoder(os.Stdout).Encode(render(filepath.Join(order.Chart, "templates"), scope)))
}

func render(folder string, scope values) map[string]string {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = func(value any) string {
		bytes, err := yaml.Marshal(value)
		must(err)
		return strings.TrimSuffix(string(bytes), "\n")
	}
	functions["include"] = func(name string, value any) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, value)
		return text.String(), err
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	must(err)
	for _, path := range paths {
		bytes, err := os.ReadFile(path)
		must(err)
		template.Must(all.New(filepath.Base(path)).Parse(string(bytes)))
	}
	rendered := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		must(all.ExecuteTemplate(&text, name, scope))
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	return rendered
}

// Merges values as Helm does: maps by key, all else by replacing it.
func merge(into, from values) values {
	for key, value := range from {
		below, isMap := value.(values)
		above, wasMap := into[key].(values)
		if isMap && wasMap {
			into[key] = merge(above, below)
		} else {
			into[key] = value
		}
	}
	return into
}

// Fields of Chart.yaml have the names of Go's structure in templates.
func capitalised(chart values) values {
	named := values{}
	for key, value := range chart {
		named[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return named
}

func readYaml(path string, into *values) {
	bytes, err := os.ReadFile(path)
	must(err)
	must(yaml.Unmarshal(bytes, into))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
