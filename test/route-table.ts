import { FORMAT_FACTS } from '../src/formats/index.ts'
import { ROUTES } from '../src/formats/routes.ts'

/** Returns one row per format: the paths for callers, and the work of its upstreams. */
export function routeTable(): string {
  const rows = [...FORMAT_FACTS].map(([format, { does, versioned }]) => {
    const paths = ROUTES.filter(route => route.format === format).map(({ path }) => `\`${path}\``)
    return `| ${format} | ${[...new Set(paths)].join(', ')} | ${does.join(', ')} | ${versioned} |`
  })
  return `| Format | Endpoints | Work of its upstreams | Version stands in |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
