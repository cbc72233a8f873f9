// Follows each link inside of the built site, to its page and its anchor. The build itself looks at pages only.
//   node check.mjs FOLDER [BASE]
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder, base = '/'] = process.argv.slice(2)
const pages = readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.html'))
const unescape = text => text.replace(/&amp;/g, '&').replace(/&quot;/g, '"').replace(/&#39;/g, "'")
const texts = new Map(pages.map(page => [page, readFileSync(join(folder, page), 'utf8')]))
const anchors = new Map()
for (const [page, text] of texts) {
  anchors.set(page, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(match => unescape(match[1]))))
}

let links = 0
const dead = new Set()
for (const [page, text] of texts) {
  if (page === '404.html') continue
  for (const match of text.matchAll(/<a\b[^>]* href="([^"]*)"/g)) {
    const href = unescape(match[1])
    if (/^[a-z][a-z0-9+.-]*:/.test(href)) continue
    links++
    const url = new URL(href, 'site:' + base + page)
    const path = decodeURIComponent(url.pathname)
    if (!path.startsWith(base)) { dead.add(`${page}: ${href}`); continue }
    let target = path.slice(base.length)
    if (target === '' || target.endsWith('/')) target += 'index.html'
    const anchor = decodeURIComponent(url.hash.slice(1))
    if (!existsSync(join(folder, target)) || (anchor && !(anchors.get(target)?.has(anchor) ?? true))) {
      dead.add(`${page}: ${href}`)
    }
  }
}
for (const link of dead) console.error(`dead link in ${link}`)
if (links < 1000 && dead.size === 0) {
  console.error(`only ${links} links in ${pages.length} pages: the check does not see them`)
  process.exit(1)
}
console.log(`${pages.length} pages, ${links} links, ${dead.size} dead`)
process.exit(dead.size === 0 ? 0 : 1)
