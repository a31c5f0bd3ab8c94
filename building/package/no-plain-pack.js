// Run before `npm pack` and `npm publish` in the repository, whose package.json is not the one of the package.
console.error(
  'The package has a manifest of its own: `npm run package -- FOLDER` packs it, `npm run release` makes a release.',
)
process.exitCode = 1
