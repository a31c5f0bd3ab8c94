import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { hrefOf } from './href.ts'
import { common } from './i18n/common.ts'
import { ROUTES } from './routes.ts'
import { session } from './session-state.ts'
import { Help } from './shell/help.tsx'
import { Nav } from './shell/nav.tsx'
import { NotFound } from './shell/not-found.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { Loading } from './ui/states.tsx'
import { Toasts } from './ui/toast.tsx'
import { VIEWS } from './views.ts'

/** Finds the route of a path. A trailing slash is ignored. */
const routeAt = (path: string) => ROUTES.find(one => hrefOf(one.path).replace(/\/$/, '') === path.replace(/\/$/, ''))

/** The whole console: the sign-in form without a session, the pages with one. */
export function App() {
  if (session.value === undefined) return <Loading lines={1} />
  return (
    <>
      {session.value === null ? <SignIn /> : <Shell />}
      <Toasts />
    </>
  )
}

const Shell = () => (
  <LocationProvider scope={/^\/console(\/|$)/}>
    <a class="skip" href="#content">
      {common().skip}
    </a>
    <Nav />
    <main id="content" tabIndex={-1}>
      <ErrorBoundary onError={fault => console.error(fault)}>
        <Router onRouteChange={entered}>
          {ROUTES.map(({ name, path }) => (
            <Route key={name} path={hrefOf(path)} component={VIEWS[name]} />
          ))}
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </main>
    <Titled />
    <Help />
  </LocationProvider>
)

/** Moves the focus to the content after a page change, so that screen readers continue there. */
function entered(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Sets the document's title to that of the open page. */
function Titled() {
  const { path } = useLocation()
  const route = routeAt(path)
  const title = route === undefined ? '' : `${common().pages[route.name]} · `
  useEffect(() => {
    document.title = `${title}Interlingua`
  }, [title])
  return null
}
