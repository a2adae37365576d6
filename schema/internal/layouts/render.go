package main

import (
	"fmt"
	"regexp"
	"strings"
)

// migration is one file of the source.
type migration struct {
	file    string // name of the source file
	stem    string // the same without .sql
	version string
	outside bool   // to be run outside a transaction
	sql     string // without the directive of Atlas
}

const outsideDirective = "-- atlas:txmode none\n\n"

var fileName = regexp.MustCompile(`^(\d{14})_[a-z0-9_]+\.sql$`)

func parse(name, text string) (migration, error) {
	parts := fileName.FindStringSubmatch(name)
	if parts == nil {
		return migration{}, fmt.Errorf("%s: not the name of a migration", name)
	}
	body, outside := strings.CutPrefix(text, outsideDirective)
	// What a tool would take for an instruction of its own must not be in the text.
	for _, mark := range []string{"atlas:", "+goose"} {
		if strings.Contains(body, mark) {
			return migration{}, fmt.Errorf("%s: contains %q", name, mark)
		}
	}
	return migration{file: name, stem: strings.TrimSuffix(name, ".sql"), version: parts[1], outside: outside, sql: body}, nil
}

// layouts maps each generated folder to the function that renders a migration into its files, by name.
var layouts = map[string]func(migration) map[string]string{
	"goose":          goose,
	"golang-migrate": golangMigrate,
}

// The semicolon is on purpose. golang-migrate with x-multi-statement cuts at every semicolon, also within comments and
// function bodies; cut here, a file fails before it has changed anything.
func header(m migration) string {
	return "-- Generated from migrations/" + m.file + "; change that file and run go generate.\n"
}

// goose makes each file one statement, which the server takes apart, so that goose need not understand dollar quotes.
func goose(m migration) map[string]string {
	var b strings.Builder
	b.WriteString(header(m))
	if m.outside {
		b.WriteString("-- +goose NO TRANSACTION\n")
	}
	b.WriteString("-- +goose Up\n-- +goose StatementBegin\n")
	b.WriteString(m.sql)
	b.WriteString("-- +goose StatementEnd\n\n-- +goose Down\n-- +goose StatementBegin\n")
	b.WriteString(refusal("restore a backup or write a migration of your own"))
	b.WriteString("-- +goose StatementEnd\n")
	return map[string]string{m.file: b.String()}
}

// golangMigrate relies on the server: a file with several statements, sent as one message, is one transaction, and a file
// with a single statement is outside any. BEGIN and COMMIT would leave a failed session inside a broken transaction.
func golangMigrate(m migration) map[string]string {
	return map[string]string{
		m.stem + ".up.sql":   header(m) + m.sql,
		m.stem + ".down.sql": header(m) + refusal("now run: migrate force "+m.version),
	}
}

// refusal is the way down. Without any, both tools would forget that the migration was applied and undo nothing. All is in
// the message, which is what both of them show.
func refusal(next string) string {
	return `DO $refuse$
BEGIN
    RAISE EXCEPTION 'satchel has no way down; nothing was changed; ` + next + `'
        USING ERRCODE = 'feature_not_supported';
END;
$refuse$;
`
}
