# the folders that a user's shells would have
mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
