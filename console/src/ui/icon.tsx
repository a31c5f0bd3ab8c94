/** SVG path of each icon, on a 20 × 20 grid. */
const PATHS = {
  overview: 'M3.5 3.500h5.500v7H3.500zM11 3.500h5.500v4H11zM11 9.500h5.500v7H11zM3.500 12.500h5.500v4H3.500z',
  start: 'M3.5 9.5 10 4l6.5 5.5V16h-4.5v-4h-4v4H3.5z',
  models: 'M10 3l6.5 3.5L10 10 3.5 6.5zM3.5 10 10 13.5 16.5 10M3.5 13.5 10 17l6.5-3.5',
  keys: 'M12.5 11a4 4 0 1 0-3.7-2.5L3.5 13.8V16.500h2.700v-2h2v-2h1.600l.9-1.700c.6.1 1.2.2 1.8.2zM13.3 6.700h.01',
  usage: 'M3.5 16.500h13M5.5 16.500v-5M10 16.500v-11M14.5 16.500v-8',
  traffic: 'M3.5 6.500h12M12.5 3.500l3 3-3 3M16.5 13.500h-12M7.5 10.500l-3 3 3 3',
  translator:
    'M3.5 5.500h7M7 3.500v2M9.5 5.500c-.8 3-3 5-5.5 6M5 8c1 1.5 2.5 2.8 4.5 3.500M10 16.500l3.2-8h.6l3.2 8M11.2 13.700h4.6',
  channels: 'M4 4.500h12v4H4zM4 11.500h12v4H4zM6.5 6.500h.010M6.5 13.500h.010M9.5 6.500h4M9.5 13.500h4',
  audit: 'M5 3.500h10v13H5zM7.500 7h5M7.500 10h5M7.500 13h3',
  account: 'M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.500c.7-2.7 3-4 6-4s5.3 1.3 6 4',
  search: 'M9 14.500a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7.5 7.500h8v9h-8zM12.5 7.500v-4h-8v9h3',
  check: 'M4 10.500l4 4 8-9',
  close: 'M5 5l10 10M15 5L5 15',
  menu: 'M3.5 5.500h13M3.5 10h13M3.5 14.500h13',
  more: 'M4.5 10h.010M10 10h.010M15.5 10h.01',
  edit: 'M4 16l.7-3.300L13.5 4l2.5 2.5-8.7 8.800z',
  rotate: 'M16 10a6 6 0 1 1-1.8-4.300M16 3.500v3h-3',
  revoke: 'M10 16.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM5.5 5.500l9 9',
  record: 'M10 16.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM10 12.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  warning: 'M10 3.500l7 12.500H3zM10 8.500v3.500M10 14h.01',
  info: 'M10 16.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM10 9.500v4M10 6.700h.01',
  up: 'M5.5 12l4.5-4.5 4.5 4.5',
  down: 'M5.5 8l4.5 4.500L14.5 8',
  right: 'M8 5.500l4.5 4.500L8 14.5',
  download: 'M10 3.500v9M6.5 9.500l3.5 3.5 3.5-3.500M4 16.500h12',
  play: 'M6.5 4.500v11l9-5.500z',
  stop: 'M5.5 5.500h9v9h-9z',
  trash: 'M4 5.500h12M8 5.500v-2h4v2M5.5 5.500l.7 11h7.600l.7-11M8.5 9v4.500M11.5 9v4.5',
  leave: 'M12 6.500v-3H4v13h8v-3M8.5 10h8M14 7.500l2.5 2.5-2.5 2.5',
  keyboard: 'M2.5 5.500h15v9h-15zM5.5 8.500h.010M8.5 8.500h.010M11.5 8.500h.010M14.5 8.500h.010M6.5 11.500h7',
  moon: 'M16 11.500A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.500z',
  globe:
    'M10 16.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM3.5 10h13M10 3.500c2 2 2.8 4.2 2.8 6.500s-.8 4.5-2.8 6.500c-2-2-2.8-4.2-2.8-6.500s.8-4.5 2.8-6.500z',
  link: 'M8.5 11.500l3-3M9 6l1.5-1.500a3.2 3.2 0 0 1 5 5L14 11M11 14l-1.5 1.500a3.2 3.2 0 0 1-5-5L6 9',
} as const

export type IconName = keyof typeof PATHS

/** Line widths other than the default. Dots need thicker lines to be visible. */
const WIDTHS: { readonly [I in IconName]?: number } = { more: 2.6 }

/** An icon, hidden from screen readers because the text beside it says the same. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    class="icon"
    viewBox="0 0 20 20"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    stroke-width={WIDTHS[name] ?? 1.5}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)
