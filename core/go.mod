module github.com/satchel-go/satchel/core

go 1.26.0
