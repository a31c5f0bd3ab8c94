import type { Family } from './family.ts'

/** Counts requests without usage rows: model lists, stored responses, tasks and images. */
export class Queries {
  private readonly byPath = new Map<string, number[]>()

  /** @param path the path pattern of an endpoint. The set of patterns is fixed, so that the labels are bounded. */
  count(path: string, status: number): void {
    const classes = this.byPath.get(path) ?? [0, 0, 0, 0, 0, 0]
    this.byPath.set(path, classes)
    classes[Math.min(Math.floor(status / 100), classes.length - 1)]!++
  }

  get family(): Family {
    const values = [...this.byPath].flatMap(([path, classes]) =>
      classes.flatMap((value, statusClass) =>
        value === 0 ? [] : [{ labels: { door: path, status: `${statusClass}xx` }, value }],
      ),
    )
    const help = 'Requests that use no model, as for lists of models, stored responses and tasks.'
    return { name: 'interlingua_queries_total', help, type: 'counter', aggregator: 'sum', values }
  }
}
