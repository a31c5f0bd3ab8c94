import type { ComponentChildren } from 'preact'

interface PageProps {
  readonly title: string
  /** What the page is for, in a sentence. */
  readonly lead?: ComponentChildren
  /** Buttons at the right of the title. */
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

/** The frame of a page's content. */
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
  /** Without padding, for tables. */
  readonly flush?: boolean
  readonly children: ComponentChildren
}

/** A surface of things that belong together. */
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

/** A row of controls above a list. */
export const Bar = ({ children }: { readonly children: ComponentChildren }) => <div class="bar">{children}</div>
