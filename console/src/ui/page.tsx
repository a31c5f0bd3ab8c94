import type { ComponentChildren } from 'preact'

interface PageProps {
  readonly title: string
  /** One sentence about the page. */
  readonly lead?: ComponentChildren
  /** Buttons to the right of the title. */
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A page with its title, lead and actions. */
export const Page = ({ title, lead, actions, children }: PageProps) => (
  <>
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        {lead && <p>{lead}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
    {children}
  </>
)

interface CardProps {
  readonly title?: string
  readonly actions?: ComponentChildren
  /** Removes the padding, for tables. */
  readonly flush?: boolean
  readonly children: ComponentChildren
}

/** A section with an optional heading. */
export const Card = ({ title, actions, flush, children }: CardProps) => (
  <section class={flush ? 'card flush' : 'card'}>
    {(title || actions) && (
      <header>
        {title && <h2>{title}</h2>}
        {actions && <div class="actions">{actions}</div>}
      </header>
    )}
    {children}
  </section>
)

/** Row of controls above a list. */
export const Bar = ({ children }: { readonly children: ComponentChildren }) => <div class="bar">{children}</div>
