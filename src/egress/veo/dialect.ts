/** Nothing is declared of upstreams that speak it: it has no flags. */
export const FLAGS = [] as const
