import { FORMAT_FACTS } from '../src/formats/index.ts'
import { MODEL_METHODS, ROUTES } from '../src/formats/routes.ts'

/** Returns one row per format: the paths for callers, and the work of its upstreams. */
export function routeTable(): string {
  const rows = [...FORMAT_FACTS].map(([format, { does, versioned }]) => {
    const fixed = ROUTES.filter(route => route.format === format).map(({ path }) => path)
    const { endpoints, pathOf } = MODEL_METHODS.get(format) ?? { endpoints: new Map(), pathOf: () => '' }
    const ofModels = [...endpoints.keys()].map(method => pathOf('MODEL', method).replace('MODEL', '{model}'))
    const paths = [...fixed, ...ofModels].map(path => `\`${path}\``)
    return `| ${format} | ${[...new Set(paths)].join(', ')} | ${does.join(', ')} | ${versioned} |`
  })
  return `| Format | Endpoints | Work of its upstreams | Version stands in |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
