"""scikit-learn estimators: they validate, build the model, call the engine and expose results."""
