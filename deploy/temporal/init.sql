CREATE DATABASE temporal_visibility;
