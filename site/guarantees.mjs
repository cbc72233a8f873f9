// Writes a page with the guarantees of each store, and links the table to them. The text is that of the tool.
//   node guarantees.mjs FOLDER     a copy of ../docs
//   MORTISE                        the tool; that of this checkout by default
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const [folder] = process.argv.slice(2)
const tool = process.env.MORTISE ?? resolve('../mortise')
const pages = join(folder, 'reference/guarantees')
const table = join(folder, 'reference/guarantees.md')
const mode = /^\| `((.+?)(?:\/.+?)?)`: /gm
const file = store => store.replace('+', '-') + '.md'

const text = readFileSync(table, 'utf8')
const stores = new Set([...text.matchAll(mode)].map(match => match[2]))
if (stores.size < 10) throw new Error(`only ${stores.size} stores in ${table}`)
mkdirSync(pages, { recursive: true })
for (const store of stores) {
  writeFileSync(join(pages, file(store)), execFileSync(tool, ['guarantees', '--markdown', store]))
}
writeFileSync(table, text.replace(mode, (_, id, store) => `| [\`${id}\`](guarantees/${file(store)}): `))
