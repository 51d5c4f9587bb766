import { optionsOf, type Shell } from './arguments.js';

const commands = Object.keys(optionsOf);

/** A script that completes commands, options and paths. */
export function completionScript(shell: Shell): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell]();
}

function namesOf(options: object): string[] {
  return Object.keys(options).map((name) => `--${name}`);
}

function bashScript(): string {
  const cases = Object.entries(optionsOf).map(
    ([command, options]) => `    ${command}) words='${namesOf(options).join(' ')}' ;;`,
  );
  return `_media_services() {
  local word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} words
  case $command in
${cases.join('\n')}
    *) words='${commands.join(' ')}' ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${commands.join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _media_services media-services
`;
}

/** zsh runs bash's completion. */
function zshScript(): string {
  return `#compdef media-services
autoload -U +X bashcompinit && bashcompinit
${bashScript()}`;
}

function fishScript(): string {
  const lines = Object.entries(optionsOf).flatMap(([command, options]) => [
    `complete -c media-services -n __fish_use_subcommand -a ${command}`,
    ...Object.keys(options).map(
      (name) => `complete -c media-services -n '__fish_seen_subcommand_from ${command}' -l ${name}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
