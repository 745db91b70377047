/**
 * `paraph completion bash|zsh|fish`: a script for the shell, which completes commands and options.
 * It is made of the commands themselves and asks nobody, so completing takes no time.
 */
import { Argument, type Command } from 'commander';
import { type AddCommand, ok } from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { parseOneOf } from '../command-line/transactions-filter.ts';

/** A word and what it is for. */
type Offer = readonly [word: string, description: string];

interface Place {
  /** The commands before, each after a blank: ` users add`; empty for `paraph` itself. */
  readonly at: string;
  readonly commands: readonly Offer[];
  readonly options: readonly Offer[];
  /** Values of the argument. */
  readonly values: readonly Offer[];
}

const placesBelow = (command: Command, at = ''): readonly Place[] => [
  {
    at,
    commands: command.commands.map((each): Offer => [each.name(), each.description()]),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, description }): Offer => [long ?? '', description]),
    values: command.registeredArguments.flatMap(({ argChoices = [] }) =>
      argChoices.map((each): Offer => [each, '']),
    ),
  },
  ...command.commands.flatMap((each) => placesBelow(each, `${at} ${each.name()}`)),
];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const offersOf = ({ commands, values, options }: Place): readonly Offer[] => [
  ...commands,
  ...values,
  ...options,
];

const known = (places: readonly Place[]): string =>
  places
    .slice(1)
    .map(({ at }) => quoted(at))
    .join('|');

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: (places) => `# To use it now: source <(paraph completion bash)
_paraph() {
  local at= each words
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $each" in ${known(places)}) at="$at $each" ;; esac
  done
  case "$at" in
${places
  .map(
    (place) =>
      `    ${quoted(place.at)}) words=${quoted(
        offersOf(place)
          .map(([word]) => word)
          .join(' '),
      )} ;;`,
  )
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _paraph paraph
`,
  zsh: (places) => `#compdef paraph
# To use it now, after compinit: source <(paraph completion zsh)
_paraph() {
  local at= each
  local -a found
  for each in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $each" in (${known(places)}) at="$at $each" ;; esac
  done
  case "$at" in
${places
  .map((place) => {
    const found = offersOf(place).map(([word, description]) => quoted(`${word}:${description}`));
    return `    (${quoted(place.at)}) found=(${found.join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  _describe paraph found || _files
}
# From a directory of fpath, zsh runs this file as the function, for the first Tab.
if [[ "$funcstack[1]" == _paraph ]]; then _paraph; else compdef _paraph paraph; fi
`,
  fish: (places) => `# To use it now: paraph completion fish | source
function __paraph_at
  set -l at ''
  for each in (commandline -opc)[2..]
    switch "$at $each"
      case ${known(places).replaceAll('|', ' ')}
        set at "$at $each"
    end
  end
  test "$at" = "$argv[1]"
end
${places
  .flatMap(({ at, commands, values, options }) => {
    const here = `complete -c paraph -n ${quoted(`__paraph_at "${at}"`)}`;
    return [
      ...[...commands, ...values].map(([word, what]) => `${here} -f -a ${word} -d ${quoted(what)}`),
      ...options.map(([word, what]) => `${here} -l ${word.slice(2)} -d ${quoted(what)}`),
    ];
  })
  .join('\n')}
`,
};

export const addCompletion: AddCommand = (program, _, done) => {
  const command = program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(
      new Argument('<shell>', 'for which shell')
        .choices(shells)
        .argParser(parseOneOf('The shell', shells)),
    )
    .action((shell: Shell) => {
      const script = scripts[shell](placesBelow(program));
      done(ok({ shell, script }, script));
    });
  worksAt('here', command);
};
