interface HeaderTableProps {
  readonly title: string
  readonly fields: { readonly [name: string]: string }
}

/** Collapsible table of headers or query parameters. */
export const HeaderTable = ({ title, fields }: HeaderTableProps) => (
  <details class="capture-headers">
    <summary>
      {title} <span class="faint">{Object.keys(fields).length}</span>
    </summary>
    <dl>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={value === REMOVED ? 'faint' : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  </details>
)

const REMOVED = '[removed]'
