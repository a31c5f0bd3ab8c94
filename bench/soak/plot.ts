import type { Sample } from './readings.ts'

interface Panel {
  readonly title: string
  readonly lines: readonly { readonly of: keyof Sample; readonly color: string; readonly label: string }[]
}

const PANELS: readonly Panel[] = [
  {
    title: 'Memory, MB',
    lines: [
      { of: 'rss', color: '#3b6fb6', label: 'resident' },
      { of: 'heap', color: '#c2642c', label: 'heap after a collection' },
    ],
  },
  { title: 'Open file descriptors', lines: [{ of: 'descriptors', color: '#3b6fb6', label: '' }] },
  { title: 'Event-loop delay, ms (99th percentile)', lines: [{ of: 'delay', color: '#3b6fb6', label: '' }] },
  { title: 'Streams that ended, per second', lines: [{ of: 'rate', color: '#3b6fb6', label: '' }] },
]

/** Sizes in pixels. */
const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [760, 110, 60, 28, 44]

/** Draws the samples as an SVG image, with a dashed line at each time at which the store was killed. */
export function plot(samples: readonly Sample[], kills: readonly number[]): string {
  const height = PANELS.length * (HEIGHT + GAP) + TOP
  const panels = PANELS.map((panel, index) => draw(panel, samples, kills, TOP + index * (HEIGHT + GAP)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + LEFT + 20} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...panels.flat(),
    '</svg>',
    '',
  ].join('\n')
}

function draw({ title, lines }: Panel, samples: readonly Sample[], kills: readonly number[], top: number): string[] {
  const most = roundedUp(Math.max(1, ...samples.flatMap(sample => lines.map(({ of }) => sample[of]))))
  const end = samples.at(-1)!.at
  const x = (at: number): string => (LEFT + (at / end) * WIDTH).toFixed(1)
  const y = (value: number): string => (top + HEIGHT - (value / most) * HEIGHT).toFixed(1)
  const text = (left: string | number, above: string | number, content: string, more = ''): string =>
    `<text x="${left}" y="${above}" fill="#333"${more}>${content}</text>`
  return [
    text(LEFT, top - 8, [title, ...lines.map(({ label }) => label).filter(Boolean)].join(' · ')),
    ...[0, most / 2, most].flatMap(value => [
      `<line x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
      text(LEFT - 6, Number(y(value)) + 4, `${value}`, ' text-anchor="end"'),
    ]),
    ...kills.map(
      at => `<line x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${top + HEIGHT}" stroke="#999" stroke-dasharray="4 3"/>`,
    ),
    ...lines.map(
      ({ of, color }) =>
        `<polyline fill="none" stroke="${color}" stroke-width="1.5" points="${samples.map(sample => `${x(sample.at)},${y(sample[of])}`).join(' ')}"/>`,
    ),
    ...[0, 0.5, 1].map(share =>
      text(x(end * share), top + HEIGHT + 14, `${Math.round((end * share) / 60)} min`, ' text-anchor="middle"'),
    ),
  ]
}

/** Rounds up to 1, 2, 4 or 6 times a power of ten, so that the half is a round number, too. */
function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 4, 6, 10].find(step => step * power >= value) ?? 10)
}
