// The pages of ../docs as a site, from the copy that ./build makes. They stay plain Markdown that reads as well in the
// repository: what differs is here, and in guarantees.mjs.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const docs = resolve(root, 'docs')
const copy = resolve(root, 'site/target/docs')
const repository = /<scm[\s\S]*?<url>(.*?)<\/url>/.exec(readFileSync(resolve(root, 'pom.xml'), 'utf8'))[1]

// Anchors of headings as GitHub makes them, which is what the links of the pages count on.
const slugify = text =>
  text.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replace(/ /g, '-')

// A link to a file that is no page of the site leads to the repository. One that leads nowhere is left for the check.
function linksToTheRepository(md) {
  md.core.ruler.push('links-to-the-repository', state => {
    for (const block of state.tokens) {
      for (const token of block.children ?? []) {
        if (token.type !== 'link_open') continue
        const [path, anchor] = token.attrGet('href').split('#')
        if (path === '' || /^[a-z][a-z0-9+.-]*:/.test(path)) continue
        const source = resolve(docs, relative(copy, state.env.path))
        const target = resolve(dirname(source), decodeURIComponent(path))
        const page = target.startsWith(docs + '/') && target.endsWith('.md')
        if (!page && target.startsWith(root + '/') && existsSync(target)) {
          const kind = statSync(target).isDirectory() ? 'tree' : 'blob'
          token.attrSet('href', `${repository}/${kind}/main/${relative(root, target)}${anchor ? '#' + anchor : ''}`)
        }
      }
    }
  })
}

const title = file => /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1].replace(/[`*]/g, '') ?? relative(docs, file)

const section = (text, folder) => ({
  text,
  collapsed: folder !== 'quickstart',
  items: readdirSync(resolve(docs, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => ({ text: title(resolve(docs, folder, name)), link: `/${folder}/${name.slice(0, -3)}` })),
})

export default defineConfig({
  title: 'Mortise',
  description: 'Distributed locks for Java: one small API, one engine, many stores',
  // Below which path the site stands on its server.
  base: process.env.SITE_BASE ?? '/',
  srcDir: copy,
  outDir: resolve(root, 'site/target/site'),
  cacheDir: resolve(root, 'site/target/cache'),
  vite: {
    build: { chunkSizeWarningLimit: 5000 },
  },
  markdown: {
    anchor: { slugify },
    config: linksToTheRepository,
    // Plain SQL and shell, and a language that the highlighter does not know.
    languageAlias: { promql: 'text' },
  },
  themeConfig: {
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    nav: [
      { text: 'Quick start', link: '/quickstart/java' },
      { text: 'Guarantees', link: '/reference/guarantees' },
      { text: 'Compatibility', link: '/reference/compatibility' },
    ],
    sidebar: [
      section('Quick start', 'quickstart'),
      section('Concepts', 'concepts'),
      section('Guides', 'guides'),
      section('Stores', 'stores'),
      section('Reference', 'reference'),
      section('Internals', 'internals'),
      section('Decisions', 'adr'),
    ],
  },
})
