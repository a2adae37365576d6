module github.com/satchel-go/satchel/schema

go 1.26.0
