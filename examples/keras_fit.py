"""Keras: fit with callbacks that keep the best model, weights and a log."""
import argparse
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/keras")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    os.makedirs(args.out, exist_ok=True)
    keras.utils.set_random_seed(args.seed)
    x = np.random.rand(256, 8).astype("float32")
    y = (x.sum(1) > 4).astype("float32")
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.2),
                              keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    best = keras.callbacks.ModelCheckpoint(os.path.join(args.out, "best.keras"), monitor="val_loss", save_best_only=True)
    log = keras.callbacks.CSVLogger(os.path.join(args.out, "log.csv"))
    model.fit(x, y, batch_size=32, epochs=args.epochs, validation_split=0.25, callbacks=[best, log], verbose=2)
    model.save(os.path.join(args.out, "model.keras"))
    model.save_weights(os.path.join(args.out, "model.weights.h5"))


if __name__ == "__main__":
    main()
