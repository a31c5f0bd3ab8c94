import type { Family } from './family.ts'

/** Counts requests without usage rows: model lists, stored responses, tasks and images. */
export class Queries {
  private readonly byDoor = new Map<string, number[]>()

  /** @param door the path pattern of an endpoint; the set of patterns is fixed, so the labels are bounded. */
  take(door: string, status: number): void {
    const classes = this.byDoor.get(door) ?? [0, 0, 0, 0, 0, 0]
    this.byDoor.set(door, classes)
    classes[Math.floor(status / 100)]!++
  }

  get family(): Family {
    const values = [...this.byDoor].flatMap(([door, classes]) =>
      classes.flatMap((value, at) => (value === 0 ? [] : [{ labels: { door, status: `${at}xx` }, value }])),
    )
    const help = 'Requests that use no model, as for lists of models, stored responses and tasks.'
    return { name: 'interlingua_queries_total', help, type: 'counter', aggregator: 'sum', values }
  }
}
