// Package documents executes the documents of the repository: README.md and CHANGELOG.md,
// docs, and the README of every folder. What a document shows is what its reader will type.
//
// # Blocks
//
// The language of a fenced block says how it is executed; another language, or none, fails.
//
//	go        A block that begins with a package clause is a whole program. The sh block after
//	          it is run in an empty folder beside it, with released modules and a real
//	          PostgreSQL, and must print the text block after that. Any other block is put
//	          into a frame: the line "// block 2" of a file in testdata/frames/docs_wiring is
//	          replaced by the second such block of docs/wiring.md. Frames are generated, vetted
//	          and compiled, and their tests are run.
//	sql       is executed in migrated tables, and so is SQL in a line of text.
//	json,yaml is a configuration, and is loaded.
//	sh        holds commands, one a line, and so does an indented block. So does text that
//	          begins like one in a line.
//	console   holds commands after "$ " and what they print, numbers aside. They are executed.
//	text      is a picture, or the output of a program.
//
// # Commands
//
// A command is executed if that is cheap. What runs for minutes is executed by the continuous
// build, and here it is checked that it is; of other programs it is checked that they compile
// and know their flags. The few that cannot be had are listed, each with the reason.
//
// # Names
//
// Files, Go symbols, tests, make targets, settings, variables, tables and whatever else
// stands in code font must exist.
package documents
